#!/bin/bash
cp "$(dirname "$0")/total.sh" /app/total.sh
chmod +x /app/total.sh

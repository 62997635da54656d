#!/bin/bash
echo "hello $GREETED" > /app/greeting.txt

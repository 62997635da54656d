#!/bin/bash
# Broken: without a network nothing is installed, and the reward is never written.
set -e
curl -fsS --max-time 5 https://example.invalid/checker.sh -o /tmp/checker.sh
bash /tmp/checker.sh && echo 1 > /logs/verifier/reward.txt

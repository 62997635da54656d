#!/bin/bash
# The expected text is beside this script, where no agent has seen it.
mkdir -p /logs/verifier
if diff "$(dirname "$0")/expected.txt" /app/greeting.txt; then
  echo 1 > /logs/verifier/reward.txt
else
  echo 0 > /logs/verifier/reward.txt
fi

#!/bin/bash
# Four checks; the reward is the share of those that pass.
passed=0
check() { # NAME INPUT WANT
  printf "$2" > "/tmp/$1.csv"
  got=$(timeout 10 /app/total.sh "/tmp/$1.csv" 2>&1)
  if [ "$got" = "$3" ]; then
    echo "PASSED $1"
    passed=$((passed + 1))
  else
    echo "FAILED $1: got $got, want $3"
  fi
}
check plain 'a,1\nb,2\n' 3
check negative 'a,5\nb,-2\n' 3
check blank 'a,1\n\nb,2\n' 3
check both 'a,-1\n\n\nb,4\n' 3
awk -v n="$passed" 'BEGIN { printf "{\"reward\": %.2f, \"checks\": %d}\n", n / 4, n }' > /logs/verifier/reward.json

#!/bin/bash
# Prints the sum of the second column of a CSV file.
total=0
while IFS=, read -r _ number; do
  [ -n "$number" ] || break
  total=$((total + ${number#-}))
done < "$1"
echo "$total"

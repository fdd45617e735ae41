# Counts the agent calls in the ledger; the second time, how many there were again.
now=$(grep -c '"event":"iteration"' .loop/card/ledger.jsonl)
if test -f .calls; then
  before=$(cat .calls)
  echo "$((now - before)) of $before agent calls ran again"
else
  echo "$now agent calls in all"
  echo "$now" > .calls
fi

# Says whether the card is sound: `validate` of the stage `code` in pipelines/onion.yaml.
if ! test -s "picture/$LOOP_ITEM.txt" && ! test -s "verse/$LOOP_ITEM.txt"; then
  echo "there is no $LOOP_ITEM.txt"
  exit 1
fi
for file in picture/*.txt verse/*.txt; do
  if test -f "$file" && grep -n '.\{41,\}' "$file"; then
    echo "$file is wider than a card"
    exit 1
  fi
done

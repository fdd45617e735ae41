# Prints the card.
cat picture/candles.txt picture/cake.txt picture/plate.txt
echo
cat verse/line-*.txt

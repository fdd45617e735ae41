# Prints a title as the end of a web address.
printf '%s\n' "$*" | tr 'A-Z' 'a-z' | tr -cs 'a-z0-9\n' '-' | sed 's/^-*//; s/-*$//'

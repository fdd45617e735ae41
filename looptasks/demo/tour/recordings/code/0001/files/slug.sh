# Prints a title as the end of a web address.
printf '%s\n' "$*" | tr 'A-Z' 'a-z'

# Says whether slug.sh keeps its promise; `validate` in loops/code/loop.yaml.
code=0
while IFS='|' read -r title want; do
  got=$(sh slug.sh "$title")
  if [ "$got" != "$want" ]; then
    echo "slug.sh '$title' says '$got', but should say '$want'"
    code=1
  fi
done <<'TITLES'
Hello|hello
Hello World|hello-world
Hello, World!|hello-world
TITLES
exit $code

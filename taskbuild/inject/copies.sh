# Arguments: a word, a file with a passage without white space and without a line break, and a path.
# Prints the files of the container, but that path, that have the passage, white space aside.
export LC_ALL=C
for top in /* /.[!.]*; do
    case $top in
    /proc | /sys | /dev) continue ;;
    esac
    [ -L "$top" ] || grep -rlF -e "$1" -- "$top" 2>/dev/null
done | while IFS= read -r name; do
    case $name in
    "$3" | "${2%/*}"/*) continue ;;
    esac
    if tr -d ' \t\r\n\f\v' <"$name" | grep -qF -f "$2"; then printf '%s\n' "$name"; fi
done

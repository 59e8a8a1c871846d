#!/bin/sh
# Put a built site on the branch gh-pages: publish.sh FOLDER NAME
# Each NAME has a folder; `latest` is a copy of the newest release, and the start page leads there.
set -eu
site=$(cd "$1" && pwd)
name=$(printf %s "$2" | tr / -)
branch=gh-pages
work=$(mktemp -d)

git worktree add --quiet --detach "$work"
trap 'git worktree remove --force "$work"' EXIT
cd "$work"
if git ls-remote --exit-code --heads origin "$branch" >/dev/null; then
    git fetch --quiet --depth 1 origin "$branch"
    git switch --quiet --detach FETCH_HEAD
else
    git switch --quiet --orphan "$branch-$$"
fi

rm -rf "$name"
cp -R "$site" "$name"
newest=$(find . -maxdepth 1 -name 'v[0-9]*' | sort -V | tail -n 1)
rm -rf latest
cp -R "${newest:-$name}" latest
cat >index.html <<'PAGE'
<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=latest/">
<title>LLM Self-Attention by Hand</title>
<p><a href="latest/">LLM Self-Attention by Hand: the newest release</a></p>
</html>
PAGE
cp latest/404.html . 2>/dev/null || true
touch .nojekyll # serve folders such as _static

git add --all
git diff --cached --quiet && exit 0 # nothing has changed
git commit --quiet --message "Publish $name"
git push --quiet origin "HEAD:refs/heads/$branch"

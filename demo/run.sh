#!/usr/bin/env bash
# `make demo`: the whole chain on a small site, in build/demo (made anew each time).
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
python=$(command -v python || command -v python3)
export PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}"
here=build/demo
"$python" -c 'import pinakes' 2>/dev/null && command -v pinakes >/dev/null || {
    echo "demo: pinakes is not installed in $python: use make demo, or make dev before" >&2
    exit 2
}

step() { printf '\n== %s\n' "$*"; }
# Say what is run, then run it.
run() { printf '   $ %s\n' "$*"; "$@" 2>&1 | sed 's/^/     /'; }
# A step whose verb is not built yet is named, not hidden.
has() {
    "$python" - "$@" <<'PYTHON' && return 0
import sys
from pinakes.cli.verbs import VERBS
sys.exit(not set(sys.argv[1:]) <= set(VERBS))
PYTHON
    printf '   not built yet: pinakes %s\n' "$*"
    missing="${missing:-} $*"
    return 1
}

rm -rf "$here"
mkdir -p "$here"
command -v wget >/dev/null || echo "GNU wget is not installed: warcio's recorder crawls instead"

step "Crawl a small site twice; a few pages change in between"
run "$python" -m demo.crawl 1 "$here/crawls/first"
sleep 1.1 # WARC dates are whole seconds: the second crawl is later than all of the first
run "$python" -m demo.crawl 2 "$here/crawls/second"

cd "$here"
printf 'profile = "embedded"\nstore = "store"\n' >pinakes.toml
first=crawls/first/library-1.warc.gz
second=crawls/second/library-2.warc.gz

step "Land both crawls in an embedded store"
if has init ingest; then
    run pinakes init
    run pinakes ingest "$first" --crawl first
    run pinakes ingest "$second" --crawl second
fi

step "One page through time"
if has timeline; then
    run pinakes timeline http://library.example.org/scroll/7.html
fi

step "Find the duplicates, byte by byte, write them as revisits, check that nothing is lost"
if has dedupe check; then
    run pinakes dedupe "$first" "$second" -o rewritten
    run pinakes check --level error rewritten/library-1.warc.gz rewritten/library-2.warc.gz
fi

step "Restore the second crawl from its revisits, and prove it"
if has restore; then
    run pinakes restore rewritten/library-2.warc.gz -o restored --dir rewritten
    cmp <(gzip -dc "$second") <(gzip -dc restored/library-2.warc.gz)
    echo "   cmp: the restored records are the crawled ones, byte for byte"
fi

step "Both crawls in Zstandard, with a dictionary of their own: smaller, and the same records"
if has zstd; then
    run pinakes zstd train "$first" "$second" -o library.dict
    run pinakes zstd compress "$first" "$second" -o zstd --dictionary library.dict
    run pinakes zstd decompress zstd/library-1.warc.zst zstd/library-2.warc.zst -o unzstd
    for crawl in "$first" "$second"; do
        cmp <(gzip -dc "$crawl") <(gzip -dc "unzstd/$(basename "$crawl")")
    done
    echo "   cmp: the records of both are the crawled ones, byte for byte"
fi

step "Find the duplicates in the store, and write them as new generations"
if has dedupe; then
    run pinakes dedupe --all --plan
    run pinakes dedupe --all
fi

step "Serve the store: its index, and records by byte ranges, as replay tools ask for them"
if has serve; then
    run "$python" -m demo.browse http://library.example.org/picture/1.png
fi

step "Do the pages still look right?"
if ! command -v chromium >/dev/null || ! command -v chromedriver >/dev/null; then
    echo "   no browser here to look at them: make demo installs Chromium as root"
elif ! "$python" -c 'import pinakes.qa.run.opening' 2>/dev/null; then
    echo "   pages are compared with the extra qa: make dev-qa, then make demo again"
else
    run pinakes qa run second --size 8 -o qa | tee qa.log || [ $? = 1 ] # 1: a page looks different
    run pinakes qa report qa
    verdict=$(tail -n 1 qa.log)
fi

step "Done"
echo "   in $here: $(ls | paste -sd ' ')"
if [ -n "${missing:-}" ]; then
    echo "   left out, not built yet:$missing"
else
    echo "   try next:"
    echo "     export PATH=$(dirname "$(command -v pinakes)"):\$PATH; cd $here"
    echo "     pinakes ls $second | head"
    echo "     pinakes timeline http://library.example.org/"
    echo "     pinakes cat $second:0"
    echo "     pinakes serve    # then browse http://127.0.0.1:8090/captures?url=http://library.example.org/"
    echo "     pinakes serve --replay    # the same, and pywb replays the pages, if it is installed"
fi
[ -z "${verdict:-}" ] || {
    echo "     pinakes qa review qa"
    step "The pages before and after, side by side: file://$root/$here/qa/index.html"
    echo "  $verdict"
}

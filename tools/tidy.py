"""Runs clang-tidy over the sources of ours in a compilation database, and with them over our headers. What was clean
is not looked at again until it changes: the stamp of a source holds a digest of its command, of the .clang-tidy files
above it, of the version of clang-tidy and of every file of ours that it includes. (Headers of other packages are not in it: delete the
folder of stamps when those change.)

usage: tidy.py CLANG_TIDY BUILD_FOLDER STAMP_FOLDER JOBS
"""

import concurrent.futures
import functools
import hashlib
import json
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = ("src", "tests", "bench", "fuzz")
INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


@functools.cache
def content_of(path):
    """Digest of a file, and the names it includes in quotes."""
    data = path.read_bytes()
    return hashlib.sha256(data).hexdigest(), [name.decode() for name in INCLUDE.findall(data)]


def files_of(source, folders):
    """The source and all files of ours that it includes, directly or not."""
    found, waiting = set(), [source]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        for name in content_of(path)[1]:
            candidates = [folder / name for folder in (path.parent, *folders)]
            waiting += [candidate.resolve() for candidate in candidates if candidate.is_file()][:1]
    return sorted(found)


def folders_of(command):
    """The include folders of a compile command that lie in the project, which holds the build folder too."""
    words = shlex.split(command)
    named = [word[2:] if len(word) > 2 else words[i + 1] for i, word in enumerate(words) if word.startswith("-I")]
    return [path for path in map(pathlib.Path, named) if path.is_relative_to(ROOT)]


def without_precompiled(command):
    """GCC's precompiled headers are not clang's: every file is read with the includes it has itself."""
    words, kept = iter(shlex.split(command)), []
    for word in words:
        if word == "-include":
            next(words)
        elif word not in ("-Winvalid-pch", "-fpch-preprocess"):
            kept.append(word)
    return shlex.join(kept)


def sources_of(build):
    """source -> compile command; of a source that is compiled several times the first."""
    sources = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
        if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in FOLDERS:
            sources.setdefault(path, without_precompiled(entry["command"]))
    return sources


def main(tidy, build, stamps, jobs):
    build, stamps = pathlib.Path(build), pathlib.Path(stamps)
    version = subprocess.run([tidy, "--version"], capture_output=True, text=True, check=True).stdout

    def check(source, command):
        """Nothing if the source is as clean as it was, else what clang-tidy says and whether that is nothing bad."""
        rules = [folder / ".clang-tidy" for folder in source.parents if folder.is_relative_to(ROOT)]
        read = [path for path in rules if path.is_file()] + files_of(source, folders_of(command))
        digests = [content_of(path)[0] for path in read]
        digest = hashlib.sha256("\n".join([version, command, *digests]).encode()).hexdigest()
        stamp = stamps / source.relative_to(ROOT).with_suffix(".stamp")
        if stamp.is_file() and stamp.read_text() == digest:
            return None
        result = subprocess.run(
            [tidy, "-quiet", "-p", str(stamps), str(source)], capture_output=True, text=True, check=False
        )
        if result.returncode == 0:
            stamp.parent.mkdir(parents=True, exist_ok=True)
            stamp.write_text(digest)
            return True, result.stdout
        return False, result.stdout + result.stderr

    sources = sources_of(build)
    if not sources:
        sys.exit(f"tidy.py: no source of ours in {build}/compile_commands.json")
    stamps.mkdir(parents=True, exist_ok=True)
    database = [
        {"directory": str(build.resolve()), "file": str(path), "command": command} for path, command in sources.items()
    ]
    (stamps / "compile_commands.json").write_text(json.dumps(database))
    checked, bad = 0, []
    with concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool:
        answers = {pool.submit(check, *item): item[0].relative_to(ROOT) for item in sorted(sources.items())}
        for answer in concurrent.futures.as_completed(answers):
            if answer.result() is None:
                continue
            checked += 1
            good, said = answer.result()
            if not good:
                bad.append(str(answers[answer]))
                print(said, flush=True)
    print(f"{len(sources)} sources, {checked} of them new or changed, {len(bad)} with findings")
    for name in sorted(bad):
        print(f"  {name}")
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

"""Runs clang-tidy over the sources of ours in a compilation database, and with them over our headers. Most of its time
goes into headers of others, so that sources which are compiled as one (COPPICE_UNITY) cost a fraction. What was clean
once is not looked at again: the cache has an empty file for each clean state of a source, named by a digest of its
command, of the .clang-tidy files above it, of the version of clang-tidy and of every file of ours that it includes, so
that another checkout with the same cache has nothing to do either. (Headers of other packages are not in it: delete the
cache when those change.)

usage: tidy.py CLANG_TIDY BUILD_FOLDER CACHE_FOLDER JOBS [PATH...]
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


def direct_files_of(source):
    """The sources that a source which stands for several includes by their whole paths."""
    return [pathlib.Path(name) for name in content_of(source)[1] if name.startswith("/")]


def folders_of(command):
    """The include folders of a compile command that lie in the project, which holds the build folder too."""
    words = shlex.split(command)
    named = [word[2:] if len(word) > 2 else words[i + 1] for i, word in enumerate(words) if word.startswith("-I")]
    return [path for path in map(pathlib.Path, named) if path.is_relative_to(ROOT)]


def sources_of(build):
    """source -> compile command; of a source that is compiled several times the first."""
    sources = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
        if path.parent.name == "Unity" or path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in FOLDERS:
            sources.setdefault(path, entry["command"])
    return sources


def main(tidy, build, cache, jobs, *paths):
    build, cache = pathlib.Path(build), pathlib.Path(cache)
    version = subprocess.run([tidy, "--version"], capture_output=True, text=True, check=True).stdout

    def check(source, command):
        """Nothing if the source is as clean as it was, else what clang-tidy says and whether that is nothing bad."""
        rules = [folder / ".clang-tidy" for folder in source.parents if folder.is_relative_to(ROOT)]
        read = [path for path in rules if path.is_file()] + files_of(source, folders_of(command))
        # What is in the build folder only says which files belong together, with their paths.
        kept = [path for path in read if not path.is_relative_to(build.resolve())]
        digests = [f"{path.relative_to(ROOT)} {content_of(path)[0]}" for path in kept]
        command = command.replace(str(build.resolve()), "BUILD").replace(str(ROOT), "ROOT")
        stamp = cache / hashlib.sha256("\n".join([version, command, *digests]).encode()).hexdigest()
        if stamp.exists():
            return None
        result = subprocess.run(
            [tidy, "-quiet", "-p", str(build), str(source)], capture_output=True, text=True, check=False
        )
        if result.returncode == 0:
            stamp.touch()
            return True, result.stdout
        return False, result.stdout + result.stderr

    wanted = [pathlib.Path(path).resolve() for path in paths] or [ROOT]
    sources = {
        source: command
        for source, command in sources_of(build).items()
        if any(file.is_relative_to(path) for path in wanted for file in (source, *direct_files_of(source)))
    }
    if not sources:
        sys.exit(f"tidy.py: no source of ours in {build}/compile_commands.json")
    cache.mkdir(parents=True, exist_ok=True)
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
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

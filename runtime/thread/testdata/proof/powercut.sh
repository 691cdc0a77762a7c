#!/bin/sh
# Simulates the loss of power under a program that writes to a disk.
#
#   powercut.sh WORK SECONDS WRITER [ARGUMENT...]
#
# The disk is a file with an ext4 file system, mounted through a loop device at WORK/disk. WRITER runs for SECONDS and writes what it
# acknowledges to file descriptor 3. Then it is stopped, and the file behind the disk is copied as it is: what the kernel had not been told to
# sync is not in it. What the copy holds when it is mounted ends up in WORK/after, and what was acknowledged in WORK/acks.
#
# Needs root and loop devices. Exit code 77: this machine cannot do it.
set -eu

work=$1 seconds=$2
shift 2

unable() {
	echo "$1" >&2
	exit 77
}

[ "$(id -u)" = 0 ] || unable "not root"
for tool in mkfs.ext4 losetup mount umount truncate; do
	command -v "$tool" >/dev/null || unable "no $tool"
done

writer=
cleanup() {
	[ -z "$writer" ] || kill -KILL "$writer" 2>/dev/null || true
	umount "$work/copy" 2>/dev/null || true
	umount "$work/disk" 2>/dev/null || true
	rm -f "$work/disk.img" "$work/cut.img"
}
trap cleanup EXIT

mkdir -p "$work/disk" "$work/copy" "$work/after"
truncate -s 128M "$work/disk.img"
mkfs.ext4 -q -F "$work/disk.img"
mount -o loop "$work/disk.img" "$work/disk" || unable "no loop device"
sync -f "$work/disk"

"$@" 3>"$work/acks" &
writer=$!
sleep "$seconds"

# All its threads must stand still before the copy begins, or it would acknowledge what the copy has missed.
kill -STOP "$writer"
while grep -h '^State:' "/proc/$writer"/task/*/status | grep -qv 'T (stopped)\|t (tracing stop)'; do :; done
cp --sparse=always "$work/disk.img" "$work/cut.img"
kill -KILL "$writer"
wait "$writer" 2>/dev/null || true
writer=

mount -o loop "$work/cut.img" "$work/copy"
cp "$work/copy"/threads.db* "$work/after/" || echo "the disk is empty" >&2

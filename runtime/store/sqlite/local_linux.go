package sqlite

import (
	"syscall"

	"github.com/routegen/routegen/runtime"
)

// remote are the file systems of other machines, by their magic numbers. Their locks, shared memory
// and syncs are not what a write-ahead log needs.
var remote = map[uint32]string{
	0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB2", 0x01021997: "9p",
	0x5346414f: "AFS", 0x00c36400: "Ceph",
}

// checkLocalDisk returns an error for a folder on a network file system.
func checkLocalDisk(folder string) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(folder, &fs); err != nil {
		return err
	}
	if name := remote[uint32(fs.Type)]; name != "" {
		return runtime.Errorf(runtime.CodeUnavailable, "",
			"it is on a network file system (%s): use a local disk", name)
	}
	return nil
}

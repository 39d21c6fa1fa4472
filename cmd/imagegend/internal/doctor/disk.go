package doctor

import "github.com/imagegend/imagegend/imagegen/storage"

// Disk looks at the room on the disk of a directory, by the same bounds at which the service warns and stops taking
// work.
func Disk(dir string) Finding {
	s, err := storage.SpaceOf(dir, nil)
	if err != nil {
		return ok("disk", "%v", err).fails("look at the file system of " + dir)
	}
	// The reserve is what the service leaves free so that running work can end.
	f := ok("disk", "%d MiB free of %d MiB; below %d MiB no new work is taken", s.Free>>20, s.Total>>20, s.Reserve>>20)
	switch {
	case s.Low():
		return f.fails("make room on the disk of " + dir)
	case s.NearlyFull():
		return f.but("make room on the disk of " + dir + ", or let --retain erase what is old")
	}
	return f
}

package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// flushes counts the flushes that the disk of a directory has done so far, for every process. NaN: the system does not
// say, as of a file system without a disk of its own.
func flushes(dir string) float64 {
	var s unix.Stat_t
	if unix.Stat(dir, &s) != nil {
		return math.NaN()
	}
	disk := uint64(s.Dev)
	text, _ := os.ReadFile(fmt.Sprintf("/sys/dev/block/%d:%d/stat", unix.Major(disk), unix.Minor(disk)))
	const field = 15 // Documentation/block/stat.rst of Linux: "flush I/Os"
	fields := strings.Fields(string(text))
	if len(fields) <= field {
		return math.NaN()
	}
	n, err := strconv.ParseFloat(fields[field], 64)
	if err != nil {
		return math.NaN()
	}
	return n
}

package disk_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
)

// kind is what an entry of a tape is.
type kind byte

const (
	written kind = iota // bytes, at an offset of the disk
	flushed             // all that was written before is durable
	said                // a record of what a client and the service said
	broken              // the disk failed once, at a write that is lost or at a flush that flushed nothing
)

// entry is one thing that happened.
type entry struct {
	kind   kind
	offset int64
	data   []byte
}

func (e entry) logRecord() (w logRecord, err error) {
	err = json.Unmarshal(e.data, &w)
	return w, err
}

const headerSize = 1 + 8 + 4

// tape is a file that several processes add to: its records happened in this order.
type tape struct{ file *os.File }

func openTape(path string) (tape, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	return tape{f}, err
}

// add is one write, for which the kernel finds the end.
func (t tape) add(k kind, offset int64, data []byte) error {
	b := make([]byte, 0, headerSize+len(data))
	b = append(b, byte(k))
	b = binary.LittleEndian.AppendUint64(b, uint64(offset))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	_, err := t.file.Write(append(b, data...))
	return err
}

func (t tape) say(w logRecord) error {
	b, err := json.Marshal(w)
	if err != nil {
		return err
	}
	return t.add(said, 0, b)
}

// readTape returns what is whole, also if it ends within an entry.
func readTape(path string) (entries []entry, err error) {
	b, err := os.ReadFile(path)
	for len(b) > 0 {
		if len(b) < headerSize {
			return entries, fmt.Errorf("%s ends within an entry", path)
		}
		e := entry{kind: kind(b[0]), offset: int64(binary.LittleEndian.Uint64(b[1:]))}
		n := int(binary.LittleEndian.Uint32(b[9:]))
		if b = b[headerSize:]; len(b) < n {
			return entries, fmt.Errorf("%s ends within an entry", path)
		}
		e.data, b = b[:n:n], b[n:]
		entries = append(entries, e)
	}
	return entries, err
}

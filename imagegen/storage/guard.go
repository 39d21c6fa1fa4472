package storage

import (
	"fmt"
	"runtime/debug"

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// fault is what the methods of tx panic with: they return no error. guard turns it into one.
type fault struct{ error }

func must(err error, name kv.Bucket, key []byte) {
	if err != nil {
		panic(fault{fmt.Errorf("storage: %s %q cannot be written: %v", name, key, err)})
	}
}

// panicError is a bug, of an operation or in bbolt. The stack is for the log.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string {
	return fmt.Sprintf("storage: panic in a transaction: %v", e.value)
}

// guard turns a panic of f into an error, also one from a page of the mapped file that the disk
// does not give back.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case fault:
			err = p.error
		case kv.Damage:
			err = p.Err
		case interface{ Addr() uintptr }:
			err = fmt.Errorf("%w: a page of the file cannot be read: %v", ErrCorrupt, p)
		default:
			err = &panicError{p, debug.Stack()}
		}
	}()
	return f()
}

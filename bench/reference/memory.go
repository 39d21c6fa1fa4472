package main

import (
	"bytes"
	"sync"
)

// store keeps rows and images.
type store interface {
	put(values ...value) error // returns when they are kept, all or none
	get(bucket, key []byte, f func(value []byte)) error
	putImage(id string, b []byte) error // b is valid during the call
}

// memory is a store until the process ends.
type memory struct {
	mu     sync.RWMutex
	rows   map[string]map[string][]byte
	images map[string][]byte
}

func newMemory() *memory {
	m := &memory{rows: map[string]map[string][]byte{}, images: map[string][]byte{}}
	for _, b := range buckets {
		m.rows[string(b)] = map[string][]byte{}
	}
	return m
}

func (m *memory) put(values ...value) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, v := range values {
		m.rows[string(v.bucket)][string(v.key)] = v.value
	}
	return nil
}

func (m *memory) get(bucket, key []byte, f func([]byte)) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	f(m.rows[string(bucket)][string(key)])
	return nil
}

func (m *memory) putImage(id string, b []byte) error {
	b = bytes.Clone(b)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.images[id] = b
	return nil
}

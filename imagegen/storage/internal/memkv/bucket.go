package memkv

import (
	"bytes"
	"slices"
	"sort"
)

// bucket keeps pairs in order, in blocks of bounded size: to find one takes two binary searches,
// and a change moves the rest of one block. The zero value is empty.
type bucket struct{ blocks []block }

// block is some pairs in order; a bucket holds no empty one.
type block []pair

type pair struct{ key, value []byte }

// blockSize is the most pairs of a block.
const blockSize = 128

// seek finds the first pair whose key is ≥ key; i is len(b.blocks) if there is none.
func (b *bucket) seek(key []byte) (i, j int, found bool) {
	i = sort.Search(len(b.blocks), func(i int) bool {
		last := b.blocks[i][len(b.blocks[i])-1]
		return bytes.Compare(last.key, key) >= 0
	})
	if i == len(b.blocks) {
		return i, 0, false
	}
	j, found = slices.BinarySearchFunc(b.blocks[i], key, func(p pair, key []byte) int { return bytes.Compare(p.key, key) })
	return i, j, found
}

func (b *bucket) get(key []byte) []byte {
	if i, j, found := b.seek(key); found {
		return b.blocks[i][j].value
	}
	return nil
}

// put keeps p and returns the value that was there; nil if there was none.
func (b *bucket) put(p pair) (before []byte) {
	i, j, found := b.seek(p.key)
	if found {
		before = b.blocks[i][j].value
		b.blocks[i][j].value = p.value
		return before
	}
	switch {
	case len(b.blocks) == 0:
		b.blocks = []block{{}}
	case i == len(b.blocks): // behind everything
		i--
		j = len(b.blocks[i])
	}
	b.blocks[i] = slices.Insert(b.blocks[i], j, p)
	if len(b.blocks[i]) > blockSize {
		b.split(i)
	}
	return nil
}

func (b *bucket) split(i int) {
	low, high := b.blocks[i][:blockSize/2], b.blocks[i][blockSize/2:]
	b.blocks = slices.Insert(b.blocks, i+1, slices.Clone(high))
	clear(high) // what is no longer here can be freed
	b.blocks[i] = low
}

// remove returns the value that was there; nil if there was none.
func (b *bucket) remove(key []byte) (before []byte) {
	i, j, found := b.seek(key)
	if !found {
		return nil
	}
	before = b.blocks[i][j].value
	b.blocks[i] = slices.Delete(b.blocks[i], j, j+1)
	b.join(i)
	return before
}

// join drops block i if it is empty, and merges it into the next where both are small.
func (b *bucket) join(i int) {
	switch {
	case len(b.blocks[i]) == 0:
		b.blocks = slices.Delete(b.blocks, i, i+1)
	case i+1 < len(b.blocks) && len(b.blocks[i])+len(b.blocks[i+1]) <= blockSize/2:
		b.blocks[i] = append(b.blocks[i], b.blocks[i+1]...)
		b.blocks = slices.Delete(b.blocks, i+1, i+2)
	}
}

func (b *bucket) ascend(from []byte, f func(key, value []byte) bool) {
	i, j, _ := b.seek(from)
	for ; i < len(b.blocks); i, j = i+1, 0 {
		for _, p := range b.blocks[i][j:] {
			if !f(p.key, p.value) {
				return
			}
		}
	}
}

// descend goes down from the last key < before; from the end if before is nil.
func (b *bucket) descend(before []byte, f func(key, value []byte) bool) {
	i, j := len(b.blocks), 0
	if before != nil {
		i, j, _ = b.seek(before)
	}
	for {
		if j == 0 {
			if i--; i < 0 {
				return
			}
			j = len(b.blocks[i])
		}
		j--
		if p := b.blocks[i][j]; !f(p.key, p.value) {
			return
		}
	}
}

package tables

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
)

// Check goes over the generations and reports every broken invariant: a generation has ended if
// and only if its charge is closed, it cost its price times the images published, what it says of
// them is whole, and the indexes name what is there and nothing else. It reports as well what was lost
// of users, keys and sign-ins. It returns how many generations there are. An error means that the check could not be carried out.
//
// A charge with the identifier of a generation, open or spent, has to have that generation, unless
// there is none at all: then the books serve another store. Other charges are the embedder's own.
func Check(ctx context.Context, tx kv.Tx, report func(imagegen.Violation)) (generations int, err error) {
	c := &checker{tx: tx, report: report}
	tx.Ascend(intents, nil, func(id, _ []byte) bool {
		generations++
		c.generation(imagegen.GenerationID(id))
		return ctx.Err() == nil
	})
	for _, b := range []kv.Bucket{open, ended, erased, listed, disputed, due, delayed, reserved, undelivered, prompts, hashes} {
		tx.Ascend(b, nil, func(key, value []byte) bool {
			c.named(b, key, value)
			return ctx.Err() == nil
		})
	}
	c.turns()
	c.people()
	if generations > 0 {
		ledger.Unreturned(ledgerkv.Rows(tx), func(id imagegen.ChargeID) bool {
			c.charged(imagegen.GenerationID(id))
			return ctx.Err() == nil
		})
	}
	return generations, ctx.Err()
}

type checker struct {
	tx     kv.Tx
	report func(imagegen.Violation)
}

func (c *checker) violation(rule string, subject imagegen.GenerationID, format string, args ...any) {
	c.report(imagegen.Violation{Rule: rule, Subject: string(subject), Detail: fmt.Sprintf(format, args...)})
}

func (c *checker) generation(id imagegen.GenerationID) {
	r, err := load(c.tx, id)
	if err != nil {
		c.violation("generation record", id, "%v", err)
		return
	}
	c.broken(id, r.Check())
	c.broken(id, checkCharge(c.tx, r))
	c.entries(r)
}

// broken reports what a check has found.
func (c *checker) broken(id imagegen.GenerationID, err error) {
	v, ok := errors.AsType[imagegen.Violation](err)
	switch {
	case ok:
		c.report(v)
	case err != nil:
		c.violation("generation charge", id, "%v", err)
	}
}

// charged checks that there is what credits were taken for.
func (c *checker) charged(id imagegen.GenerationID) {
	if id.Valid() && c.tx.Get(intents, []byte(id)) == nil {
		c.violation("generation charge", id, "it was charged, and does not exist")
	}
}

// entries checks that the indexes have what a row asks for.
func (c *checker) entries(r row) {
	for _, b := range []kv.Bucket{open, ended, erased} {
		if there := c.tx.Get(b, []byte(r.ID)) != nil; there != (b == phase(r.State)) {
			c.violation("index", r.ID, "it is %s, and lies in %s: %t", r.State, b, there)
		}
	}
	for _, e := range r.entries() {
		if c.tx.Get(e.bucket, e.key) == nil {
			c.violation("index", r.ID, "it is not in %s", e.bucket)
		}
	}
	if r.IdempotencyKey != "" && c.tx.Get(reserved, reservedKey(r.User, r.IdempotencyKey)) == nil {
		c.violation("index", r.ID, "its idempotency key is not in %s", reserved)
	}
	if turn := c.tx.Get(turns, userKey(r.User)); r.waits() && (turn == nil || c.tx.Get(ring, ringKey([]byte(r.Model), turn)) == nil) {
		c.violation("queue", r.ID, "it is due, and user %q never has a turn for it", r.User)
	}
}

// turns checks that who has a turn has one, and work for it.
func (c *checker) turns() {
	c.tx.Ascend(turns, nil, func(user, _ []byte) bool {
		if len(modelsDue(c.tx, user)) == 0 {
			c.report(imagegen.Violation{Rule: "queue", Subject: string(user), Detail: "the user has a turn, and nothing that is due"})
		}
		return true
	})
	c.tx.Ascend(ring, nil, func(key, user []byte) bool {
		model, turn, _ := bytes.Cut(key, []byte{0})
		if !bytes.Equal(c.tx.Get(turns, user), turn) || len(dueOf(c.tx, user, model, 1)) == 0 {
			c.report(imagegen.Violation{Rule: "queue", Subject: string(user), Detail: "a turn is the user's, who has another, or nothing that is due"})
		}
		return true
	})
}

// named checks that what an index names has that place.
func (c *checker) named(b kv.Bucket, key, value []byte) {
	id := namedBy(b, key, value)
	if c.tx.Get(intents, []byte(id)) == nil {
		c.violation("index", id, "%s names it, and it does not exist", b)
		return
	}
	r, err := load(c.tx, id)
	if err != nil { // which is reported of the generation itself
		return
	}
	switch b {
	case listed, disputed, due, delayed, undelivered, prompts, hashes:
		if !slices.ContainsFunc(r.entries(), entry{b, key}.equal) {
			c.violation("index", id, "%s has it where it does not belong", b)
		}
	case reserved:
		if !bytes.Equal(key, reservedKey(r.User, r.IdempotencyKey)) {
			c.violation("index", id, "%s has it under a key that it does not have", b)
		}
	}
}

// namedBy is the generation that a line of an index names.
func namedBy(b kv.Bucket, key, value []byte) imagegen.GenerationID {
	switch b {
	case listed:
		return afterUser(key)
	case due:
		_, _, _, id := ofDue(key)
		return id
	case delayed, prompts, hashes:
		_, id := timeOf(key)
		return id
	case undelivered: // user, NUL, JoinKey, generation
		_, rest, _ := bytes.Cut(key, []byte{0})
		return imagegen.GenerationID(rest[min(len(imagegen.Record{}.JoinKey), len(rest)):])
	case reserved:
		return imagegen.GenerationID(value)
	}
	return imagegen.GenerationID(key)
}

package tables

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
)

// Check goes over the generations and reports every broken invariant: a generation has ended if
// and only if its charge is closed, it cost its price times the images published, what it says of
// them is whole, and the indexes name what is there and nothing else. It returns how many
// generations there are. An error means that the check could not be carried out.
func Check(ctx context.Context, tx kv.Tx, report func(imagegen.Violation)) (generations int, err error) {
	c := &checker{tx: tx, report: report}
	tx.Ascend(intents, nil, func(id, _ []byte) bool {
		generations++
		c.generation(imagegen.GenerationID(id))
		return ctx.Err() == nil
	})
	for _, b := range []kv.Bucket{open, ended, erased, listed, due, delayed, reserved} {
		tx.Ascend(b, nil, func(key, value []byte) bool {
			c.named(b, key, value)
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
	c.charge(r)
	c.outcome(r)
	for _, i := range r.Images {
		c.image(r, i)
	}
	c.entries(r)
}

// charge holds a generation against what was charged for it.
func (c *checker) charge(r row) {
	charge, closed, used, known := ledger.ChargeOf(c.tx, r.Charge().ID)
	switch {
	case r.State == imagegen.StateCharging: // in doubt: recovery sees to it
	case !known && r.joint:
		c.violation("generation charge", r.ID, "it was charged here, and there is no such charge")
	case !known: // charged elsewhere
	case charge.User != r.User || charge.Credits != r.Charge().Credits:
		c.violation("generation charge", r.ID, "it costs user %q %d credits; the charge says %d, user %q",
			r.User, r.Charge().Credits, charge.Credits, charge.User)
	case r.State == imagegen.StateSettling: // in doubt as well
	case closed == (phase(r.State) == open && r.State != imagegen.StateErasing):
		c.violation("generation charge", r.ID, "it is %s, and its charge is closed: %t", r.State, closed)
	case closed && used != r.Used():
		c.violation("credits spent", r.ID, "%d were spent on %d images at %d", used, r.Published, r.Price)
	}
}

// outcome checks that images, failure and end fit the state.
func (c *checker) outcome(r row) {
	pending := phase(r.State) == open && r.State != imagegen.StateSettling && r.State != imagegen.StateErasing
	images, failed := r.Published, r.Published == 0
	if pending || r.State == imagegen.StateErased {
		images, failed = 0, false
	}
	whole := len(r.Images) == images && (r.Failure != nil) == failed && r.CompletedAt.IsZero() == pending &&
		r.Published >= 0 && r.Published <= r.N && (r.Published == 0 || !pending) &&
		(!r.Terminal() || (r.State == imagegen.StateFailed) == (r.Published == 0))
	if !whole {
		c.violation("outcome", r.ID, "it is %s, completed %v, with %d of %d images published, names %d and has failed: %t",
			r.State, r.CompletedAt, r.Published, r.N, len(r.Images), r.Failure != nil)
	}
}

func (c *checker) image(r row, i imagegen.StoredImage) {
	g, ok := i.ID.Generation()
	whole := ok && g == r.ID && i.Attempt >= 1 && i.Attempt <= r.Attempt && i.MediaType != "" &&
		i.Width > 0 && i.Height > 0 && i.Size > 0 && !i.CreatedAt.IsZero()
	if !whole {
		c.violation("image record", r.ID, "image %s of attempt %d, %d x %d, %d bytes of type %q, cannot be its own",
			i.ID, i.Attempt, i.Width, i.Height, i.Size, i.MediaType)
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
	latest := max(getUint(c.tx, served, lastServed), getUint(c.tx, turns, kv.Key(string(r.User))))
	if r.turn > latest {
		c.violation("queue", r.ID, "it has turn %d, and the latest of user %q is %d", r.turn, r.User, latest)
	}
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
	case listed, due, delayed:
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
	case listed: // user, NUL, status, generation
		_, rest, _ := bytes.Cut(key, []byte{0})
		return imagegen.GenerationID(rest[min(1, len(rest)):])
	case due, delayed:
		_, id := seatOf(key)
		return id
	case reserved:
		return imagegen.GenerationID(value)
	}
	return imagegen.GenerationID(key)
}

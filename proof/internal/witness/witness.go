// Package witness keeps the answers to the callers of a service, and holds what is there in the end
// against it.
//
// A proof makes an [Order] of each request and a [Grant] of each lot, has them hear what callers are
// answered, as often as they ask, and hands all of them to [Service.Compare] at the end. What it has to
// say beyond that (of moments, of excuses, of what a crash may cost) stays with the proof.
package witness

import (
	"context"
	"crypto/sha256"
	"io"
	"iter"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
)

// Fact is called with each thing that has to be so; the format says what is the case otherwise.
type Fact func(ok bool, format string, args ...any)

// Books is what is read of a ledger.
type Books interface {
	Balance(context.Context, imagegen.UserID) (imagegen.Balance, error)
	Lots(context.Context, imagegen.UserID) ([]imagegen.Lot, error)
	History(ctx context.Context, u imagegen.UserID, before uint64, limit int) ([]imagegen.Entry, error)
	MemberUse(ctx context.Context, payer, member imagegen.UserID) (imagegen.KeyUse, error)
	Usage(context.Context, imagegen.UserID, imagegen.UsageQuery) ([]imagegen.Usage, error)
}

// Service is what lies below a service, as it is at a moment at which nothing changes.
type Service struct {
	Store  imagegen.Store
	Books  Books
	Images imagegen.ImageStore
	Users  []imagegen.UserID

	Joint   bool // store and ledger commit together
	Settled bool // nothing is under way
}

// Compare says whether everything that was answered is so, nothing is there that was denied, and store,
// ledger and images fit each other. It returns all generations.
func (s Service) Compare(ctx context.Context, orders iter.Seq[*Order], grants []Grant, fact Fact) []imagegen.Record {
	records := s.Records(ctx, fact)
	for _, r := range records {
		s.record(ctx, r, fact)
	}
	for o := range orders {
		o.compare(records, fact)
	}
	for _, u := range s.Users {
		s.account(ctx, u, records, grants, fact)
	}
	return records
}

// Records are all generations that users can list, and those that they were charged for.
func (s Service) Records(ctx context.Context, fact Fact) (all []imagegen.Record) {
	seen := map[imagegen.GenerationID]bool{}
	add := func(r imagegen.Record) {
		if !seen[r.ID] {
			seen[r.ID] = true
			all = append(all, r)
		}
	}
	for _, u := range s.Users {
		for q := (imagegen.Query{Limit: imagegen.MaxPageSize}); ; {
			page, more, err := s.Store.Generations(ctx, u, q)
			fact(err == nil, "the generations of %s cannot be listed: %v", u, err)
			for _, r := range page {
				add(r)
				q.After = r.ID
			}
			if !more {
				break
			}
		}
		for _, e := range s.history(ctx, u, fact) {
			if r, err := s.Store.Generation(ctx, imagegen.GenerationID(e.Charge)); err == nil {
				add(r)
			}
		}
	}
	return all
}

func (s Service) history(ctx context.Context, u imagegen.UserID, fact Fact) []imagegen.Entry {
	const all = 1 << 30
	entries, err := s.Books.History(ctx, u, 0, all)
	fact(err == nil, "the journal of %s cannot be read: %v", u, err)
	return entries
}

// record says what holds of every generation: it has ended, and its images are there, byte by byte.
func (s Service) record(ctx context.Context, r imagegen.Record, fact Fact) {
	err := r.Check()
	fact(err == nil, "%v", err)
	fact(!s.Settled || r.Terminal() || r.State == imagegen.StateErased, "%s is still %s", r.ID, r.State)
	if r.State == imagegen.StateErasing {
		return // some are gone
	}
	for _, i := range r.Images {
		sum, err := Sum(s.Images.OpenImage(ctx, r.ImageKey(i)))
		fact(err == nil && sum == i.SHA256, "image %s of %s: %v, or its bytes are others", i.ID, r.ID, err)
	}
}

// Sum reads and closes what was opened.
func Sum(f io.ReadCloser, err error) (sum [sha256.Size]byte, _ error) {
	if err != nil {
		return sum, err
	}
	defer f.Close()
	hash := sha256.New()
	_, err = io.Copy(hash, f)
	return [sha256.Size]byte(hash.Sum(nil)), err
}

// account says what holds of a user's ledger: each charge is that of a generation and ended with it, to
// what the images cost, and the others came to nothing; what was granted and not spent is there.
func (s Service) account(ctx context.Context, u imagegen.UserID, records []imagegen.Record, grants []Grant, fact Fact) {
	a := ReadJournal(s.history(ctx, u, fact), fact)
	s.members(ctx, u, a, fact)
	for _, r := range records {
		if r.Account() != u {
			continue
		}
		c, made := a.Charges[r.Charge().ID]
		err := r.CheckCharge(c.Charge, c.Closed || !made, c.Used) // what was settled before it was made has no entry
		fact(err == nil, "%v", err)
		fact(!made || c.Member == r.Charge().Member, "%s was charged for %q, and is of %s", r.ID, c.Member, r.User)
		delete(a.Charges, r.Charge().ID)
	}
	// undone before anybody got an answer; a store that commits with its ledger needs no such undoing
	for id, c := range a.Charges {
		fact(!s.Joint && (c.Closed || !s.Settled) && c.Used == 0,
			"%s belongs to no generation: %d credits, closed: %t, spent: %d", id, c.Credits, c.Closed, c.Used)
	}
	for _, g := range grants {
		if g.User == u {
			g.compare(a.Entries, fact)
		}
	}
	b, err := s.Books.Balance(ctx, u)
	fact(err == nil && b.Credits == a.Balance, "%s has %d credits, by the journal %d: %v", u, b.Credits, a.Balance, err)
	lots, err := s.Books.Lots(ctx, u)
	fact(err == nil, "the lots of %s cannot be listed: %v", u, err)
	for _, l := range lots {
		fact(l.Held == 0 || !s.Settled, "lot %s of %s holds %d credits for nothing", l.ID, u, l.Held)
	}
}

// members says that a sponsor was charged for users that there are, and for none beyond the limit that it has now: a
// proof that changes limits ends with the highest.
func (s Service) members(ctx context.Context, u imagegen.UserID, a Account, fact Fact) {
	a.Members(ctx, s.Books, u, s.Users, fact)
	paid := map[imagegen.UserID]imagegen.Credits{}
	for _, e := range slices.Backward(a.Entries) {
		if e.Member == "" || e.Charge == "" {
			continue
		}
		paid[e.Member] -= e.Credits
		m, err := s.Store.User(ctx, e.Member)
		fact(err == nil, "%s paid for %s, who is not there: %v", u, e.Member, err)
		most := m.Limits.Credits
		fact(most == 0 || paid[e.Member] <= most, "%s has used %d credits of %d with entry %d of %s", e.Member,
			paid[e.Member], most, e.Seq, u)
	}
}

// Audit has stores and ledgers look into themselves.
func Audit(ctx context.Context, fact Fact, all ...imagegen.Inspector) {
	for _, i := range all {
		report, err := i.Audit(ctx)
		fact(err == nil, "audit: %v", err)
		for _, v := range report.Violations {
			fact(false, "audit: %s: %s: %s", v.Rule, v.Subject, v.Detail)
		}
	}
}

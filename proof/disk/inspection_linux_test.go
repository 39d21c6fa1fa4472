package disk_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
	"github.com/imagegend/imagegend/proof/internal/witness"
)

// inspection holds what lies in a directory against what was said.
type inspection struct {
	*protocol
	*service
	ctx    context.Context
	images map[string]bool // of the generations that are there
	wrong  []error
	facts  int // that were answered and are there
}

// errCorrupt: the books or the files contradict themselves.
var errCorrupt = errors.New("corrupt")

// inspect opens a directory as the next start does, and looks at it before anything is done, when
// everything is settled, and when clients have asked again where they got no answer.
func (p *protocol) inspect(dir string) (facts int, err error) {
	s, err := open(dir, p.opened)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errCorrupt, err)
	}
	i := &inspection{protocol: p, service: s, ctx: context.Background()}
	i.all()
	i.check(errors.Join(i.close(), i.files(dir)))
	return i.facts, errors.Join(i.wrong...)
}

func (i *inspection) all() {
	i.audit()
	i.compare(false)
	facts := i.facts // each counts once
	i.check(i.start())
	i.rest()
	i.compare(true)
	i.askAgain()
	i.rest()
	i.compare(true)
	i.compareFeed()
	i.audit()
	i.facts = facts
}

// compareFeed has the program go on from where it stopped.
func (i *inspection) compareFeed() {
	r := i.feed
	i.check(r.Read(i.ctx, i.db))
	storagetest.Fed{Store: i.db, Ledger: i.db, Users: i.users, Fact: i.fact}.Compare(i.ctx, r.Events)
}

func (i *inspection) check(err error) {
	if err != nil {
		i.wrong = append(i.wrong, err)
	}
}

// fact is something that has to be so; the format says what is the case otherwise.
func (i *inspection) fact(ok bool, format string, args ...any) {
	if ok {
		i.facts++
		return
	}
	i.wrong = append(i.wrong, fmt.Errorf(format, args...))
}

func (i *inspection) audit() {
	report, err := i.db.Audit(i.ctx)
	i.check(err)
	for _, v := range report.Violations {
		i.check(fmt.Errorf("%w: %s: %s: %s", errCorrupt, v.Rule, v.Subject, v.Detail))
	}
}

// rest waits until no generation is open any more, nor one being erased.
func (i *inspection) rest() {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	const patience = 20 * time.Second
	for began := time.Now(); i.busy(); <-tick.C {
		if time.Since(began) > patience {
			i.check(fmt.Errorf("there is open work %v after the start", patience))
			return
		}
	}
}

func (i *inspection) busy() bool {
	return slices.ContainsFunc(i.left(true).Records(i.ctx, i.fact), func(r imagegen.Record) bool {
		return !r.Terminal() && r.State != imagegen.StateErased
	})
}

func (i *inspection) left(settled bool) witness.Service {
	return witness.Service{Store: i.db, Books: i.db, Images: i.db, Users: i.users, Joint: true, Settled: settled}
}

// compare holds what is there against what was said; settled says that nothing is open.
func (i *inspection) compare(settled bool) {
	records := i.left(settled).Compare(i.ctx, i.orders(i.fact), i.grants(), i.fact)
	i.images = map[string]bool{}
	for _, r := range records {
		for _, image := range r.Images {
			i.images[string(image.ID)] = true
		}
		if d := i.byName[r.Prompt]; d != nil && settled && d.was(witness.Accepted) && !d.was(witness.Failed) {
			made, makes := len(r.Images), d.asked.Request.Makes
			i.fact(made == makes || i.broken && made < makes, "%q was accepted and came to %d images instead of %d",
				r.Prompt, made, makes)
		}
	}
}

// askAgain repeats what was asked for with an idempotency key, twice: what was answered is answered
// again, what was not is done once.
func (i *inspection) askAgain() {
	for _, d := range slices.Clone(i.operations) {
		if d.asked.Request.Key == "" || d.denied() || i.gone(d) {
			continue
		}
		c := client{i.service, d.asked.User, i.hear}
		for range 2 {
			known := d.was(witness.Accepted, witness.Succeeded, witness.Failed)
			w := c.do(d.asked.Request)
			i.fact(w.Replayed || !known, "%q was asked for again and answered %q anew: %s", w.Name, w.Answer, w.Detail)
			i.fact(w.Answer != witness.Unknown && w.Answer != witness.Refused,
				"%q was asked for again and answered %q: %s", w.Name, w.Answer, w.Detail)
		}
	}
}

// denied reports whether nothing was done, as far as answers say.
func (d *operation) denied() bool {
	return d.was(witness.Poor, witness.Busy, witness.Refused) && !d.was(witness.Accepted, witness.Succeeded,
		witness.Failed, witness.Unknown)
}

// gone reports whether somebody wanted a generation erased.
func (i *inspection) gone(d *operation) bool {
	return slices.ContainsFunc(d.answers, func(w logRecord) bool { return i.erased[w.ID] != nil })
}

// files checks that nothing lies in the directory but what belongs there: the images of generations
// that are visible, and no others.
func (i *inspection) files(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, dir+"/")
		switch {
		case err != nil || d.IsDir() || name == "imagegen.db" || name == "ballast":
			return err
		case strings.HasPrefix(name, "images/") && i.images[name[strings.LastIndexByte(name, '.')+1:]]:
			return nil
		}
		i.wrong = append(i.wrong, fmt.Errorf("%s was left behind", name))
		return nil
	})
}

package movetest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/transfer"
	"github.com/imagegend/imagegend/imagegen/storage/transfer/internal/pagesize"
)

// Everything is the same in another storage, and back in the first kind, however often the move is broken off.
func TestThereAndBack(t *testing.T) {
	for name, elsewhere := range map[string]func(*testing.T) place{
		"directory": func(t *testing.T) place { return directory(t.TempDir()) },
		"cluster":   newCluster,
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			defer pagesize.Of(5)()
			home, there, back := filled(t), elsewhere(t), directory(t.TempDir())
			want := whole(t, home)
			broken := moveKilled(t, home, there)
			is.True(broken > 10)
			// PostgreSQL keeps times to the microsecond.
			same := cmp.Options{cmpopts.EquateEmpty(), cmpopts.EquateApproxTime(time.Microsecond)}
			is.Equal(cmp.Diff(want, whole(t, there), same), "")
			refuses(t, home)
			is.True(moveKilled(t, there, back) > 10)
			is.Equal(cmp.Diff(want, whole(t, back), same), "")
			refuses(t, there)
			goesOn(t, back)
		})
	}
}

// moveKilled moves everything while the process dies at its first write, then at its second, and so on, before it
// or after. It returns how often it died.
func moveKilled(t *testing.T, from, to place) (broken int) {
	t.Helper()
	is := is.New(t)
	for after := true; ; after, broken = !after, broken+1 {
		life := 2 + broken%3
		source, closeSource := from.end(t, false)
		target, closeTarget := to.end(t, true)
		source.Database, target.Database = mortal{source.Database, &life, after}, mortal{target.Database, &life, after}
		err := transfer.Run(t.Context(), source, target, nil)
		closeSource()
		closeTarget()
		if err == nil || errors.Is(err, transfer.ErrMoved) { // it died right behind its last write
			return broken
		}
		is.True(errors.Is(err, errKilled))
		is.True(!usable(t, from) || !usable(t, to))
	}
}

func move(t *testing.T, from, to place) error {
	source, closeSource := from.end(t, false)
	defer closeSource()
	target, closeTarget := to.end(t, true)
	defer closeTarget()
	return transfer.Run(t.Context(), source, target, nil)
}

// refuses checks that nothing but a move opens a place.
func refuses(t *testing.T, p place) {
	t.Helper()
	is.New(t).True(!usable(t, p))
}

func usable(t *testing.T, p place) bool {
	t.Helper()
	db, err := p.open(t)
	if errors.Is(err, transfer.ErrMoved) {
		return false
	}
	is.New(t).NoErr(errors.Join(err, db.Close()))
	return true
}

// A node that has a database open writes nothing to it any more once that is being moved, and goes on if that is given
// up.
func TestOpenNodeIsFenced(t *testing.T) {
	is, ctx, there := is.New(t), t.Context(), newCluster(t)
	is.NoErr(move(t, filled(t), there))
	node, err := there.open(t)
	is.NoErr(err)
	defer func() { is.NoErr(node.Close()) }()
	begin(t, there, directory(t.TempDir()))
	_, err = node.Grant(ctx, imagegen.Grant{User: "alice", Credits: 1})
	is.True(errors.Is(err, imagegen.ErrNotApplied))
	_, _, err = node.Claim(ctx, imagegen.ClaimRequest{Most: 1, Lease: time.Minute})
	is.True(errors.Is(err, imagegen.ErrNotApplied))
	is.True(errors.Is(node.CreateUser(ctx, imagegen.User{ID: "dave", Name: "dave"}), imagegen.ErrNotApplied))
	_, err = node.Balance(ctx, "alice")
	is.NoErr(err)

	source, closeSource := there.end(t, false)
	defer closeSource()
	is.NoErr(transfer.GiveUp(ctx, source))
	_, err = node.Grant(ctx, imagegen.Grant{User: "alice", Credits: 1})
	is.NoErr(err)
}

// Of two processes that go on with the same move, one gets ErrRaced and does nothing.
func TestTwoAtOnce(t *testing.T) {
	for name, elsewhere := range map[string]func(*testing.T) place{
		"directory": func(t *testing.T) place { return directory(t.TempDir()) },
		"cluster":   newCluster,
	} {
		t.Run(name, func(t *testing.T) {
			is, there := is.New(t), elsewhere(t)
			begin(t, filled(t), there)
			end, closeEnd := there.end(t, true)
			defer closeEnd()
			stale, err := end.Mark(t.Context())
			is.NoErr(err)
			newer := stale
			newer.At.Key = append(newer.At.Key, 1)
			is.NoErr(end.SetMark(t.Context(), stale, newer))
			is.True(errors.Is(end.SetMark(t.Context(), stale, transfer.Mark{}), transfer.ErrRaced))
			rows, err := end.Rows(t.Context(), transfer.Place{}, 1)
			is.NoErr(err)
			is.True(errors.Is(end.Take(t.Context(), rows, stale, transfer.Mark{}), transfer.ErrRaced))
			stands, err := end.Mark(t.Context())
			is.NoErr(err)
			is.Equal(stands, newer)
		})
	}
}

// A target that holds something, or a part of another move, is refused; the source stays in use.
func TestTargetInUse(t *testing.T) {
	is, home, other := is.New(t), filled(t), filled(t)
	is.True(errors.Is(move(t, home, other), transfer.ErrNotEmpty))
	whole(t, home)
	whole(t, other)

	target := directory(t.TempDir())
	begin(t, home, target)
	is.True(errors.Is(move(t, other, target), transfer.ErrNotEmpty))
	is.True(errors.Is(move(t, home, directory(t.TempDir())), transfer.ErrMoved)) // it is on its way to another
	is.NoErr(move(t, home, target))
	is.True(errors.Is(move(t, home, target), transfer.ErrMoved))
}

// begin begins a move that dies when it has copied little.
func begin(t *testing.T, from, to place) {
	t.Helper()
	defer pagesize.Of(5)()
	source, closeSource := from.end(t, false)
	defer closeSource()
	target, closeTarget := to.end(t, true)
	defer closeTarget()
	life := 3
	target.Database = mortal{target.Database, &life, true}
	is.New(t).True(errors.Is(transfer.Run(t.Context(), source, target, nil), errKilled))
}

// A move that was begun can be given up: the source is used as before, and the target never.
func TestGiveUp(t *testing.T) {
	is, home, target := is.New(t), filled(t), directory(t.TempDir())
	want := whole(t, home)
	begin(t, home, target)
	refuses(t, home)
	source, closeSource := home.end(t, false)
	is.NoErr(transfer.GiveUp(t.Context(), source))
	is.True(transfer.GiveUp(t.Context(), source) != nil) // nothing is on its way any more
	closeSource()
	is.Equal(cmp.Diff(want, whole(t, home), cmpopts.EquateEmpty()), "")
	refuses(t, target)
	is.True(errors.Is(move(t, home, target), transfer.ErrNotEmpty)) // the source may have changed since
	is.NoErr(move(t, home, directory(t.TempDir())))

	source, closeSource = home.end(t, false)
	defer closeSource()
	is.True(errors.Is(transfer.GiveUp(t.Context(), source), transfer.ErrMoved)) // it is over
}

// A source that is not sound is refused, and stays in use: somebody has to put it right.
func TestUnsoundSource(t *testing.T) {
	is, home := is.New(t), filled(t)
	spoil(t, home)
	is.True(errors.Is(move(t, home, directory(t.TempDir())), transfer.ErrUnsound))
	db, err := home.open(t)
	is.NoErr(err)
	is.NoErr(db.Close())
}

// Damage between the audit and the copy is found all the same.
func TestDamageOnTheWay(t *testing.T) {
	is, home, target := is.New(t), filled(t), directory(t.TempDir())
	begin(t, home, target)
	spoil(t, home)
	is.True(move(t, home, target) != nil)
	refuses(t, home)
	refuses(t, target)
}

// spoil writes others' bytes into all images of a directory.
func spoil(t *testing.T, in directory) {
	t.Helper()
	is := is.New(t)
	images, err := filepath.Glob(filepath.Join(string(in), "images", "*", "*"))
	is.NoErr(err)
	for _, i := range images {
		is.NoErr(os.WriteFile(i, []byte("others' bytes"), 0o600))
	}
}

// filled is a directory with something of everything in it.
func filled(t *testing.T) directory {
	t.Helper()
	is, ctx, dir := is.New(t), t.Context(), directory(t.TempDir())
	db, err := dir.open(t)
	is.NoErr(err)
	now := time.Now().UTC()
	for n, u := range users {
		is.NoErr(db.CreateUser(ctx, imagegen.User{ID: u, Name: string(u) + "'s name", AccountType: "PRO",
			CreatedAt: now}))
		is.NoErr(db.CreateKey(ctx, imagegen.Key{ID: imagegen.KeyID(fmt.Sprint("key_", n)), User: u,
			Hash: [32]byte{byte(n), 1}, CreatedAt: now, Limits: imagegen.KeyLimits{Daily: 1000}}))
		for i := range 4 {
			_, err := db.Grant(ctx, imagegen.Grant{User: u, Credits: 30, Promo: i%2 == 0, Priority: 1 + i,
				Ref: fmt.Sprint("payment ", u, i), Expires: now.AddDate(0, i, 0).Add(time.Hour)})
			is.NoErr(err)
		}
		_, err := db.Revoke(ctx, imagegen.Revocation{User: u, Credits: 3, Ref: fmt.Sprint("back ", u)})
		is.NoErr(err)
	}
	is.NoErr(db.SuspendUser(ctx, "carol", now))
	_, err = db.RevokeKey(ctx, "key_2", now)
	is.NoErr(err)
	is.NoErr(db.SetLogin(ctx, account.Login{User: "alice", Role: account.RoleOperator, Password: "hash",
		ChangedAt: now}))
	is.NoErr(db.CreateSignIn(ctx, account.SignIn{Hash: [32]byte{7}, User: "alice", CreatedAt: now, SeenAt: now}))
	is.NoErr(db.CreateInvitation(ctx, account.Invitation{Hash: [32]byte{8}, User: "bob", Role: account.RoleUser,
		ExpiresAt: now.Add(time.Hour)}))
	is.NoErr(db.CreateOperatorKey(ctx, account.OperatorKey{ID: "opk_1", Name: "billing", Hash: [32]byte{9},
		Scopes: "credits", CreatedAt: now}))
	is.NoErr(db.Settle(ctx, "never charged", 0))
	is.NoErr(db.Charge(ctx, imagegen.Charge{ID: "an embedder's", User: "bob", Credits: 2, Model: "m", N: 1}))
	for n := range 24 {
		generate(t, db, n)
	}
	is.NoErr(db.Close())
	return dir
}

var users = []imagegen.UserID{"alice", "bob", "carol"}

func id(n int) imagegen.GenerationID {
	return imagegen.GenerationID(fmt.Sprintf("gen_%026d", n))
}

func bytesOf(n int) []byte { return bytes.Repeat([]byte{byte(n), 1}, 100+n) }

// generate makes a generation, and leaves it in one state or another.
func generate(t *testing.T, db house, n int) {
	t.Helper()
	is, ctx := is.New(t), t.Context()
	reference := imagegen.ReferenceFile{ID: imagegen.ReferenceID(fmt.Sprintf("ref_%026d", n)), MediaType: "image/png",
		Size: int64(len(bytesOf(n))), Width: 1, Height: 1, SHA256: sha256.Sum256(bytesOf(n))}
	is.NoErr(db.Stage(ctx, reference.ID, bytes.NewReader(bytesOf(n))))
	is.NoErr(db.Keep(ctx, reference.ID))
	r := imagegen.Record{
		Intent: imagegen.Intent{ID: id(n), User: users[n%2], Model: "fake-1", Prompt: "a fox", N: 1,
			Size: imagegen.Size{Width: 64, Height: 64}, Price: 2, Async: true,
			KeyID: imagegen.KeyID(fmt.Sprint("key_", n%2)), References: []imagegen.ReferenceFile{reference},
			IdempotencyKey: fmt.Sprint("again ", n), CreatedAt: time.Now().UTC()},
		Progress: imagegen.Progress{State: imagegen.StateCharging},
	}
	r, err := db.CreateCharged(ctx, r, time.Minute)
	is.NoErr(err)
	change := func(c imagegen.Change) {
		r, err = db.Update(ctx, r.Fence(), c)
		is.NoErr(err)
	}
	if n%6 == 0 {
		return // it waits in the queue
	}
	change(imagegen.ClaimChange{})
	switch n % 6 {
	case 1:
		change(imagegen.SaveJobChange{Job: []byte("job"), Upstreams: []string{"upstream"}})
		change(imagegen.ReleaseChange{Delay: time.Hour})
		return
	case 2:
		return // it runs
	case 3:
		r, err = db.FinishSettled(ctx, r.Fence(), imagegen.OutcomeChange{At: time.Now().UTC(),
			Failure: &imagegen.Failure{Class: imagegen.ClassRefused, Detail: "no"}})
		is.NoErr(err)
		return
	}
	image := imagegen.StoredImage{ID: imagegen.ImageID(fmt.Sprintf("image_%026d%026d", n, 0)), Attempt: r.Attempt,
		MediaType: "image/png", Width: 64, Height: 64, Size: int64(len(bytesOf(n))), SHA256: sha256.Sum256(bytesOf(n)),
		CreatedAt: time.Now().UTC()}
	is.NoErr(db.PutImage(ctx, r.ImageKey(image), bytes.NewReader(bytesOf(n))))
	r, err = db.FinishSettled(ctx, r.Fence(), imagegen.OutcomeChange{At: time.Now().UTC(),
		Images: []imagegen.StoredImage{image}})
	is.NoErr(err)
	if n%6 == 4 {
		change(imagegen.FavouriteChange{Favourite: true})
	} else if n > 12 {
		change(imagegen.EraseChange{})
	}
}

// statement is all that can be asked of a storage.
type statement struct {
	Users    []imagegen.User
	Operator []account.OperatorKey
	Login    account.Login
	SignIns  []account.SignIn
	Invited  account.Invitation
	Trail    []account.TrailRow
	Report   imagegen.AuditReport
	Of       map[imagegen.UserID]accountState
	Images   map[imagegen.GenerationID][]byte
	Uploads  map[imagegen.GenerationID][]byte
}

type accountState struct {
	Balance   imagegen.Balance
	Lots      []imagegen.Lot
	Journal   []imagegen.Entry
	Usage     []imagegen.Usage
	Keys      []imagegen.Key
	KeyUse    imagegen.KeyUse
	Records   []imagegen.Record
	Favourite []imagegen.Record
	Queued    imagegen.QueueLength
}

func whole(t *testing.T, p place) (s statement) {
	t.Helper()
	is, ctx := is.New(t), t.Context()
	db, err := p.open(t)
	is.NoErr(err)
	defer func() { is.NoErr(db.Close()) }()
	must := func(err error) { t.Helper(); is.NoErr(err) }
	s.Users, err = db.Users(ctx)
	must(err)
	s.Operator, err = db.OperatorKeys(ctx)
	must(err)
	s.Login, err = db.Login(ctx, "alice")
	must(err)
	s.SignIns, err = db.SignIns(ctx, "alice")
	must(err)
	s.Invited, err = db.Invitation(ctx, [32]byte{8}, time.Now())
	must(err)
	page, err := db.Trail(ctx, account.TrailQuery{Limit: 1000})
	must(err)
	s.Trail = page.Rows
	s.Report, err = db.Audit(ctx)
	must(err)
	is.True(s.Report.Clean())
	s.Of, s.Images, s.Uploads = make(map[imagegen.UserID]accountState), make(map[imagegen.GenerationID][]byte),
		make(map[imagegen.GenerationID][]byte)
	for n, u := range users {
		var a accountState
		a.Balance, err = db.Balance(ctx, u)
		must(err)
		a.Lots, err = db.Lots(ctx, u)
		must(err)
		a.Journal, err = db.History(ctx, u, 0, 10_000)
		must(err)
		a.Usage, err = db.Usage(ctx, u, imagegen.UsageQuery{From: time.Now().AddDate(0, 0, -1),
			To: time.Now().AddDate(0, 0, 1)})
		must(err)
		a.Keys, err = db.Keys(ctx, u)
		must(err)
		a.KeyUse, err = db.KeyUse(ctx, u, imagegen.KeyID(fmt.Sprint("key_", n)))
		must(err)
		a.Records, _, err = db.Generations(ctx, u, imagegen.Query{Limit: imagegen.MaxPageSize})
		must(err)
		a.Favourite, _, err = db.Generations(ctx, u, imagegen.Query{Limit: imagegen.MaxPageSize, Favourites: true})
		must(err)
		a.Queued, err = db.Queued(ctx, u)
		must(err)
		s.Of[u] = a
		for _, r := range a.Records {
			s.files(t, db, r)
		}
	}
	return s
}

func (s statement) files(t *testing.T, db house, r imagegen.Record) {
	t.Helper()
	is := is.New(t)
	for _, i := range r.Images {
		f, err := db.OpenImage(t.Context(), r.ImageKey(i))
		is.NoErr(err)
		s.Images[r.ID], err = io.ReadAll(f)
		is.NoErr(errors.Join(err, f.Close()))
	}
	if r.State == imagegen.StateQueued || r.State == imagegen.StateProcessing {
		f, err := db.Open(t.Context(), r.References[0].ID)
		is.NoErr(err)
		s.Uploads[r.ID], err = io.ReadAll(f)
		is.NoErr(errors.Join(err, f.Close()))
	}
}

// goesOn checks that work goes on where it was: what ran is recovered, what waits is claimed, credits are spent.
func goesOn(t *testing.T, p place) {
	t.Helper()
	is := is.New(t)
	db, err := p.open(t)
	is.NoErr(err)
	defer func() { is.NoErr(db.Close()) }()
	recovered, err := db.Recover(t.Context(), 100, time.Minute)
	is.NoErr(err)
	is.Equal(len(recovered), 6) // what is being erased included
	claimed, _, err := db.Claim(t.Context(), imagegen.ClaimRequest{Most: 100, Lease: time.Minute})
	is.NoErr(err)
	is.Equal(len(claimed), 4)
	generate(t, db, 99)
	report, err := db.Audit(t.Context())
	is.NoErr(err)
	is.True(report.Clean())
}

package tables

import (
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// The encodings of all tables. The order of the fields is the format, so a field is never moved or removed; a new
// one stands behind c.Since of a new version, see kv.Coder. The parts of a row, such as codeIntent, have no version
// of their own: they go with the row's.

// codeRow is the encoding of a generation's row.
func codeRow(c *kv.Coder, r *row) {
	c.Version(1)
	codeIntent(c, &r.Intent)
	codeProgress(c, &r.Progress)
	kv.Flag(c, &r.Joint)
	kv.Moment(c, &r.Due)
	kv.Number(c, &r.Nth)
	kv.Flag(c, &r.PartlyCancelled)
	kv.List(c, &r.Costs, codeCost)
	kv.Text(c, &r.Payer)
	kv.Flag(c, &r.Hosted)
}

func codeCost(c *kv.Coder, a *imagegen.AttemptCost) {
	kv.Number(c, &a.Attempt)
	kv.Text(c, &a.Provider)
	kv.Number(c, &a.Images)
	for _, n := range []*int64{&a.Usage.TextInput, &a.Usage.ImageInput, &a.Usage.TextOutput, &a.Usage.ImageOutput} {
		kv.Number(c, n)
	}
	kv.Number(c, &a.Usage.Units)
	kv.Number(c, &a.Usage.Time)
	kv.Number(c, &a.Usage.Surplus)
	kv.Number(c, &a.Cost)
	kv.Text(c, &a.Reason)
}

// codeTotals is the encoding of the totals that generations count for.
func codeTotals(c *kv.Coder, r *imagegen.TotalsRow) {
	c.Version(1)
	day := r.Day.Unix() // 0 is a day too, and no kv.Moment
	kv.Number(c, &day)
	r.Day = time.Unix(day, 0).UTC()
	kv.Text(c, &r.Model)
	kv.Text(c, &r.Payer)
	kv.Text(c, &r.User)
	kv.Text(c, &r.Key)
	kv.Number(c, &r.Generations)
	kv.Number(c, &r.Images)
	kv.Number(c, &r.Spent)
	kv.Number(c, &r.Attempts)
	kv.Number(c, &r.Unknown)
	kv.Number(c, &r.Cost)
}

func codeIntent(c *kv.Coder, i *imagegen.Intent) {
	kv.Text(c, &i.ID)
	kv.Text(c, &i.User)
	kv.Text(c, &i.KeyID)
	kv.Text(c, &i.Model)
	kv.Text(c, &i.Prompt)
	kv.Number(c, &i.N)
	kv.Number(c, &i.Size.Width)
	kv.Number(c, &i.Size.Height)
	kv.Text(c, &i.Quality)
	kv.Text(c, &i.Effort)
	kv.Text(c, &i.Ratio)
	kv.Text(c, &i.Tier)
	kv.Number(c, &i.Price)
	codeOptions(c, &i.Options)
	kv.Flag(c, &i.Async)
	kv.List(c, &i.References, codeReference)
	kv.Text(c, &i.IdempotencyKey)
	kv.Fixed(c, i.Fingerprint[:])
	kv.Fixed(c, i.JoinKey[:])
	kv.Moment(c, &i.CreatedAt)
}

func codeOptions(c *kv.Coder, o *imagegen.Options) {
	kv.Text(c, &o.Format)
	kv.Optional(c, &o.Compression, kv.Number)
	kv.Text(c, &o.Background)
	kv.Optional(c, &o.Seed, kv.Number)
}

func codeReference(c *kv.Coder, f *imagegen.ReferenceFile) {
	kv.Text(c, &f.ID)
	kv.Flag(c, &f.Mask)
	kv.Text(c, &f.Image)
	kv.Text(c, &f.MediaType)
	kv.Number(c, &f.Size)
	kv.Number(c, &f.Width)
	kv.Number(c, &f.Height)
	kv.Fixed(c, f.SHA256[:])
	kv.Number(c, &f.Orientation)
	kv.Text(c, &f.CopyOf)
}

func codeProgress(c *kv.Coder, p *imagegen.Progress) {
	kv.Text(c, &p.State)
	kv.Number(c, &p.Attempt)
	kv.Number(c, &p.Failures)
	kv.Number(c, &p.Resumptions)
	kv.Number(c, &p.Delay)
	kv.Bytes(c, &p.Job)
	kv.List(c, &p.JobUpstreams, kv.Text)
	kv.List(c, &p.Images, codeImage)
	kv.Number(c, &p.Published)
	kv.Optional(c, &p.Failure, codeFailure)
	kv.Moment(c, &p.CompletedAt)
	kv.Optional(c, &p.Balance, codeBalance)
	kv.Flag(c, &p.Undelivered)
	kv.Text(c, &p.Dispute)
	kv.Flag(c, &p.Refunded)
	kv.Flag(c, &p.Favourite)
}

func codeImage(c *kv.Coder, i *imagegen.StoredImage) {
	kv.Text(c, &i.ID)
	kv.Number(c, &i.Attempt)
	kv.Text(c, &i.MediaType)
	kv.Number(c, &i.Width)
	kv.Number(c, &i.Height)
	kv.Number(c, &i.Size)
	kv.Fixed(c, i.SHA256[:])
	kv.Moment(c, &i.CreatedAt)
	kv.Text(c, &i.Provenance)
}

func codeFailure(c *kv.Coder, f *imagegen.Failure) {
	kv.Number(c, &f.Class)
	kv.Text(c, &f.Detail)
}

func codeBalance(c *kv.Coder, b *imagegen.Balance) {
	kv.Number(c, &b.Credits)
	kv.Text(c, &b.AccountType)
	kv.Optional(c, &b.NextExpiration, func(c *kv.Coder, e *imagegen.Expiration) {
		kv.Number(c, &e.Credits)
		kv.Moment(c, &e.At)
	})
}

func codeUser(c *kv.Coder, u *imagegen.User) {
	c.Version(1)
	kv.Text(c, &u.ID)
	kv.Text(c, &u.Name)
	kv.Text(c, &u.AccountType)
	kv.Moment(c, &u.CreatedAt)
	kv.Moment(c, &u.DisabledAt)
	kv.Moment(c, &u.SuspendedAt)
	kv.Text(c, &u.Sponsor)
	codeLimits(c, &u.Limits)
	kv.Text(c, &u.Display)
	kv.Number(c, &u.NotifyBelow)
}

func codeLimits(c *kv.Coder, l *imagegen.KeyLimits) {
	for _, n := range []*imagegen.Credits{&l.Credits, &l.Daily, &l.Monthly} {
		kv.Number(c, n)
	}
	kv.Number(c, &l.Concurrent)
	kv.List(c, &l.Models, kv.Text)
}

func codeKey(c *kv.Coder, k *imagegen.Key) {
	c.Version(1)
	kv.Text(c, &k.ID)
	kv.Text(c, &k.User)
	kv.Text(c, &k.Name)
	kv.Text(c, &k.Prefix)
	kv.Fixed(c, k.Hash[:])
	kv.Moment(c, &k.CreatedAt)
	kv.Moment(c, &k.ExpiresAt)
	kv.Moment(c, &k.RevokedAt)
	kv.Moment(c, &k.LastUsedAt)
	codeLimits(c, &k.Limits)
	kv.Number(c, &k.Members)
}

func codeOperatorKey(c *kv.Coder, k *account.OperatorKey) {
	c.Version(1)
	kv.Text(c, &k.ID)
	kv.Text(c, &k.Name)
	kv.Text(c, &k.Prefix)
	kv.Fixed(c, k.Hash[:])
	kv.Text(c, &k.Scopes)
	kv.Moment(c, &k.CreatedAt)
	kv.Moment(c, &k.ExpiresAt)
	kv.Moment(c, &k.RevokedAt)
}

func codeLogin(c *kv.Coder, l *account.Login) {
	c.Version(1)
	kv.Text(c, &l.User)
	kv.Text(c, &l.Role)
	kv.Text(c, &l.Password)
	kv.Moment(c, &l.ChangedAt)
}

func codeSignIn(c *kv.Coder, s *account.SignIn) {
	c.Version(1)
	kv.Fixed(c, s.Hash[:])
	kv.Text(c, &s.User)
	kv.Moment(c, &s.CreatedAt)
	kv.Moment(c, &s.SeenAt)
	kv.Text(c, &s.Agent)
	kv.Moment(c, &s.ConfirmedAt)
}

func codeInvitation(c *kv.Coder, i *account.Invitation) {
	c.Version(1)
	kv.Fixed(c, i.Hash[:])
	kv.Text(c, &i.User)
	kv.Text(c, &i.Role)
	kv.Moment(c, &i.ExpiresAt)
}

func codeMark(c *kv.Coder, m *mark) {
	c.Version(1)
	kv.Fixed(c, m.Key[:])
	kv.Moment(c, &m.Until)
}

func codePasskey(c *kv.Coder, p *account.Passkey) {
	c.Version(1)
	kv.Text(c, &p.ID)
	kv.Text(c, &p.User)
	kv.Text(c, &p.Name)
	kv.Bytes(c, &p.Credential)
	kv.Number(c, &p.Uses)
	kv.Moment(c, &p.CreatedAt)
	kv.Moment(c, &p.LastUsedAt)
}

func codeIdentity(c *kv.Coder, i *account.Identity) {
	c.Version(1)
	kv.Text(c, &i.Issuer)
	kv.Text(c, &i.Subject)
	kv.Text(c, &i.User)
	kv.Moment(c, &i.CreatedAt)
}

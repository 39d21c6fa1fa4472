package main

// Nobody learns what is another's, nothing is charged twice, and nobody can exhaust the service.
var ofRefusals = []mutant{
	{
		name: "generation-without-owner", breaks: "a generation is its owner's alone",
		file:    "imagegen/engine/session.go",
		old:     `if err == nil && r.User != s.user {`,
		new:     `if err == nil && r.User == "" {`,
		catcher: catcher{pkg: "./imagegen/imagegentest", run: "."},
	},
	{
		name: "list-without-owner", breaks: "a list holds its owner's generations alone",
		file:    "imagegen/storage/internal/tables/rows.go",
		old:     `{ return kv.Key(string(u), string(s)) }`,
		new:     `{ return kv.Key(string(s)) }`,
		catcher: catcher{pkg: tables, run: "TestWritesMayRunAgain/store"},
	},
	{
		name: "revoked-key-works", breaks: "a revoked key is refused at once",
		file:    "imagegen/user.go",
		old:     `case !k.RevokedAt.IsZero(), !u.DisabledAt.IsZero():`,
		new:     `case !u.DisabledAt.IsZero():`,
		catcher: catcher{pkg: conformance, run: "TestInProcess/keys_that_are_not_valid_any_more"},
	},
	{
		name: "disabled-user-works", breaks: "a disabled user's keys count as revoked",
		file:    "imagegen/user.go",
		old:     `case !k.RevokedAt.IsZero(), !u.DisabledAt.IsZero():`,
		new:     `case !k.RevokedAt.IsZero(), u.DisabledAt.Equal(at):`,
		catcher: catcher{pkg: conformance, run: "TestInProcess/keys_that_are_not_valid_any_more"},
	},
	{
		name: "key-asked-once", breaks: "a key that is revoked while its request comes charges nobody",
		file:    "imagegen/storage/internal/rules/rules.go",
		old:     `if err := k.Refuses(u, r.CreatedAt); err != nil {`,
		new:     `if err := k.Refuses(u, r.CreatedAt); err != nil && r.ID == "" {`,
		catcher: catcher{pkg: memory, run: "TestStore|TestJoint"},
	},
	{
		name: "replay-for-a-revoked-key", breaks: "a key that is revoked while its request comes is told no former answer",
		file:    "imagegen/engine/session.go",
		old:     `if s.key == "" {`,
		new:     `if len(s.key) >= 0 {`,
		catcher: catcher{pkg: service, run: "TestKeyThatIsRevokedMeanwhile"},
	},
	{
		name: "bodies-without-limit", breaks: "the bodies in memory are bounded",
		file:    "imagegen/httpapi/internal/serving/limits.go",
		old:     `if !h.shares.Take(h.key, growth*n) {`,
		new:     `if !h.shares.Take(h.key, 0*n) {`,
		catcher: catcher{pkg: service, run: "TestBodiesInMemory"},
	},
	{
		name: "page-held-whole", breaks: "a page that nobody reads is not held in memory",
		file:    "imagegen/httpapi/list.go",
		old:     `q.Limit = min(left, l.piece())`,
		new:     `q.Limit = left`,
		catcher: catcher{pkg: service, run: "TestLongPage"},
	},
	{
		name: "uploads-of-the-poor-kept", breaks: "who cannot pay takes no space on the disk",
		file:    "imagegen/engine/internal/uploads/stage.go",
		old:     `if u.Poor(ctx, user) {`,
		new:     `if u.Poor(ctx, user) && name == "" {`,
		catcher: catcher{pkg: core, run: "TestUploadsOfWhoCannotPay"},
	},
	{
		name: "uploads-fill-the-disk", breaks: "uploads are refused while there is room for small requests",
		file:    "imagegen/storage/space.go",
		old:     `s.left(2*s.min + n)`,
		new:     `s.left(n)`,
		catcher: catcher{pkg: disk, run: "TestUploadsLeaveRoom"},
	},
	{
		name: "uploads-without-limit", breaks: "one user cannot fill the spool",
		file:    "imagegen/engine/internal/uploads/uploads.go",
		old:     `delete(u.kept, id)`,
		new:     `continue`,
		catcher: catcher{pkg: core, run: "TestUploadsKept"},
	},
	{
		name: "silence-earned", breaks: "a body must come at its least rate all the time",
		file:    "imagegen/internal/formdata/steady.go",
		old:     `s.waited = max(0, s.waited+time.Since(began)-TransferTime(int64(n)))`,
		new:     `s.waited += time.Since(began) - TransferTime(int64(n))`,
		catcher: catcher{pkg: "./imagegen/internal/formdata", run: "TestSteady"},
	},
	{
		name: "expired-key-works", breaks: "a key is refused once it has expired",
		file:    "imagegen/user.go",
		old:     `case !k.ExpiresAt.IsZero() && !at.Before(k.ExpiresAt):`,
		new:     `case !k.ExpiresAt.IsZero() && at.Before(k.CreatedAt):`,
		catcher: catcher{pkg: conformance, run: "TestInProcess/keys_that_are_not_valid_any_more"},
	},
	{
		name: "reservation-apart", breaks: "two requests with one idempotency key are charged once",
		file: "imagegen/storage/internal/tables/joint.go",
		old: `	return t.write(ctx, func(tx kv.Tx, at clock.Reading) (row, error) {
		stands, err := load(tx, r.ID)
		to := stands
		switch {
		case errors.Is(err, imagegen.ErrNotFound):
			to = row{Record: r, Joint: true}
			err = rules.Asked(accounts{tx}, r)
`,
		new: `	if err := t.db.View(ctx, func(tx kv.Tx) error { return rules.Asked(accounts{tx}, r) }); err != nil {
		return imagegen.Record{}, err
	}
	return t.write(ctx, func(tx kv.Tx, at clock.Reading) (row, error) {
		stands, err := load(tx, r.ID)
		to := stands
		switch {
		case errors.Is(err, imagegen.ErrNotFound):
			to = row{Record: r, Joint: true}
			err = nil
`,
		catcher: catcher{pkg: disk, run: "TestJoint/CreateReservationRace"},
	},
	{
		name: "reservation-of-all-users", breaks: "an idempotency key is its user's alone",
		file:    "imagegen/storage/internal/tables/rows.go",
		old:     `return kv.Key(string(u), hash[:])`,
		new:     `return kv.Key("", hash[:])`,
		catcher: catcher{pkg: tables, run: "TestWritesMayRunAgain/store"},
	},
	{
		name: "other-request-replayed", breaks: "a key with another request is refused",
		file:    "imagegen/engine/idempotency.go",
		old:     `if !erased && former.Fingerprint != c.record.Fingerprint {`,
		new:     `if !erased && former.Fingerprint == [32]byte{} {`,
		catcher: catcher{pkg: core, run: "TestIdempotentReplay"},
	},
	{
		name: "decode-without-limit", breaks: "a header that declares a huge image costs no memory",
		file:    "imagegen/fit.go",
		old:     `if most := r.mostPixels(); int64(got.Width)*int64(got.Height) > int64(most) {`,
		new:     `if most := r.mostPixels(); int64(got.Width)*int64(got.Height) < -int64(most) {`,
		catcher: catcher{pkg: core, run: "TestTooManyPixels"},
	},
	{
		name: "provider-body-without-limit", breaks: "a provider's image cannot fill the disk",
		file:    "imagegen/engine/receive.go",
		old:     `in := &stream.Meter{R: body, Most: maxImageBytes}`,
		new:     `in := &stream.Meter{R: body, Most: 1 << 62}`,
		catcher: catcher{pkg: core, run: "TestTooManyBytes"},
	},
	{
		name: "body-without-limit", breaks: "a body cannot be larger than the files that it may hold",
		file:    "imagegen/httpapi/internal/serving/body.go",
		old:     `limited := http.MaxBytesReader(x.ResponseWriter, x.Request.Body, most)`,
		new:     `limited := http.MaxBytesReader(x.ResponseWriter, x.Request.Body, 1<<40)`,
		catcher: catcher{pkg: service, run: "TestJSONBodyIsAtMostOneMiB|TestBodyLargerThanAllFiles"},
	},
	{
		name: "upload-without-limit", breaks: "a reference image has at most 50 MiB",
		file:    "imagegen/engine/internal/uploads/stage.go",
		old:     `in := &stream.Meter{R: &stream.Body{Ctx: ctx, R: r}, Most: imagegen.MaxReferenceBytes, Hash: sha256.New()}`,
		new:     `in := &stream.Meter{R: &stream.Body{Ctx: ctx, R: r}, Most: imagegen.MaxReferenceBytes << 20, Hash: sha256.New()}`,
		catcher: catcher{pkg: service, run: "TestFileOfFiftyMiB"},
	},
	{
		name: "upload-left-behind", breaks: "a request that is refused leaves nothing in the spool",
		file:    "imagegen/engine/generate.go",
		old:     `	if !c.handed {` + "\n",
		new:     `	if !c.handed && c.record.Async {` + "\n",
		catcher: catcher{pkg: service, run: "TestNothingIsLeftInTheSpool"},
	},
	{
		name: "full-disk-takes-work", breaks: "no work is begun that the disk could not hold",
		file:    "imagegen/storage/space.go",
		old:     `func (s *space) forWork() error { return s.demand(s.min) }`,
		new:     `func (s *space) forWork() error { return s.demand(0) }`,
		catcher: catcher{pkg: disk, run: "TestLowWater"},
	},
	{
		name: "outdated-key-cached", breaks: "a revoked key is refused from the moment at which its revocation was acknowledged",
		file:    "imagegen/storage/internal/tables/cache.go",
		old:     `	if m.changes != asOf {` + "\n",
		new:     `	if m.changes < asOf {` + "\n",
		catcher: catcher{pkg: tables, run: "TestNothingOutdatedIsRemembered"},
	},
	{
		name: "switched-protocol-read", breaks: "no upstream holds a call beyond its time",
		file:    "imagegen/provider/internal/upstream/client.go",
		old:     `response.StatusCode == http.StatusSwitchingProtocols`,
		new:     `response.StatusCode == 999`,
		catcher: catcher{pkg: upstream, run: "TestUpstreamThatSwitchesProtocols"},
	},
	{
		name: "connections-dropped", breaks: "an upstream is asked over connections that are there",
		file:    "imagegen/provider/internal/upstream/guard.go",
		old:     `const maxIdle = 64`,
		new:     `const maxIdle = 2`,
		catcher: catcher{pkg: upstream, run: "TestConnectionsAreKept"},
	},
	{
		name: "base64-of-anything", breaks: "what an upstream sends in place of base64 is no image",
		file:    "imagegen/provider/internal/upstream/base64.go",
		old:     `if (first|second)&foreign != 0 {`,
		new:     `if first&second&foreign != 0 {`,
		catcher: catcher{pkg: upstream, run: "FuzzBase64"},
	},
	{
		name: "base64-behind-its-end", breaks: "what an upstream sends in place of base64 is no image",
		file:    "imagegen/provider/internal/upstream/base64.go",
		old:     `case d.padded:`,
		new:     `case d.padded && n > 4:`,
		catcher: catcher{pkg: upstream, run: "FuzzBase64"},
	},
	{
		name: "all-links-fetched", breaks: "an upstream's answer costs no more than what was asked for",
		file:    "imagegen/provider/openai/answer.go",
		old:     `if len(a.links) == a.n {`,
		new:     `if len(a.links) < 0 {`,
		catcher: catcher{pkg: "./imagegen/provider/openai", run: "TestMoreLinksThanAskedFor"},
	},
	{
		name: "fetch-sent-again", breaks: "nothing that may have run is sent to another upstream",
		file:    "imagegen/provider/internal/upstream/failure.go",
		old:     `unsettled.Class = imagegen.ClassUnknown`,
		new:     `unsettled.Class = imagegen.ClassUnusable`,
		catcher: catcher{pkg: "./imagegen/provider/comfyui", run: "TestProblems"},
	},
	{
		name: "capabilities-not-asked", breaks: "what a provider cannot make is refused before anything is charged",
		file:    "imagegen/engine/plan.go",
		old:     `err = m.able(r, files)`,
		new:     `err = nil`,
		catcher: catcher{pkg: "./imagegen/engine", run: "TestNearestSizeOfWhatIsMade"},
	},
	{
		name: "sizes-of-another-model", breaks: "a model is asked for no size that it does not make",
		file:    "imagegen/provider/openai/family.go",
		old:     `{name: "gpt-image-1.5", sizes: threeSizes,`,
		new:     `{name: "gpt-image-1.5",`,
		catcher: catcher{pkg: "./imagegen/provider/openai", run: "TestSizesOfEachModel"},
	},
	{
		name: "upload-in-doubt", breaks: "what certainly made nothing may be asked of another upstream",
		file:    "imagegen/provider/webapi/upload.go",
		old:     `Class: imagegen.ClassUnavailable, Message: "a reference image could not be stored`,
		new:     `Message: "a reference image could not be stored`,
		catcher: catcher{pkg: "./imagegen/provider/webapi", run: "TestReferencesAreStoredFirst"},
	},
	{
		name: "cut-before-exact", breaks: "an upstream that makes just what is wanted comes before one whose image must be cut",
		file:    "imagegen/provider/router/line.go",
		old:     `if !m.can.Exactly(r) {`,
		new:     `if m.refuses(r) != nil {`,
		catcher: catcher{pkg: "./imagegen/provider/router", run: "TestExactSizesComeFirst"},
	},
	{
		name: "operator-waited-for", breaks: "an upstream that an operator must see to costs nobody an image while there is another",
		file:    "imagegen/provider.go",
		old:     `return c.Transient() || c == ClassUnusable }`,
		new:     `return c.Transient() }`,
		catcher: catcher{pkg: "./imagegen/provider/router", run: "TestWaitsForAnOperator"},
	},
	{
		name: "sketch-delivered", breaks: "nobody pays for a picture that was not asked for",
		file:    "imagegen/provider/gemini/answer.go",
		old:     `if a.thought = part; s.True && part == a.part {`,
		new:     `if a.thought = part; s.True && part != a.part {`,
		catcher: catcher{pkg: "./imagegen/provider/gemini", run: "TestPartsOfAnAnswer"},
	},
	{
		name: "prompt-saved-late", breaks: "no upstream work is begun that a restart would not find",
		file: "imagegen/provider/comfyui/submit.go",
		old: `	a.job.Prompts = append(a.job.Prompts, id)
	if err := a.save(ctx); err != nil {`,
		new: `	a.job.Prompts = append(a.job.Prompts, id)
	if err := ctx.Err(); err != nil {`,
		catcher: catcher{pkg: "./imagegen/provider/comfyui", run: "TestSavedBeforeItIsSubmitted"},
	},
	{
		name: "words-of-prompts-refuse", breaks: "an API's refusal is known by its own words, not by those of a prompt",
		file:    "imagegen/provider/webapi/problem.go",
		old:     `if !slices.Contains(c.Errors, s.Path) {`,
		new:     `if slices.Contains(c.Images, s.Path) {`,
		catcher: catcher{pkg: "./imagegen/provider/webapi", run: "TestFailures"},
	},
	{
		name: "refused-prompts-without-end", breaks: "a user's prompts can be refused so often, and no more",
		file:    "imagegen/engine/generate.go",
		old:     `if err := e.refusals.check(c.record.User, e.cfg.Now()); err != nil {`,
		new:     `if err := e.refusals.check(c.record.User, e.cfg.Now()); err != nil && c.record.User == "" {`,
		catcher: catcher{pkg: core, run: "TestRefusedPromptsAreBounded"},
	},
	{
		name: "outage-counts-as-refusal", breaks: "an upstream's outage limits nobody",
		file:    "imagegen/engine/refusals.go",
		old:     `g.Failure.Class.Asked()`,
		new:     `g.Failure.Class >= imagegen.ClassInvalid`,
		catcher: catcher{pkg: core, run: "TestRefusedPromptsAreBounded|TestRefusalsCount"},
	},
	{
		name: "invalid-requests-without-end", breaks: "what an upstream cannot take is bounded, as what its policy refuses",
		file:    "imagegen/provider.go",
		old:     `return c == ClassInvalid || c == ClassRefused }`,
		new:     `return c == ClassRefused }`,
		catcher: catcher{pkg: core, run: "TestRefusalsCount"},
	},
	{
		name: "whoever-answers-is-believed", breaks: "in a directory that everybody can change nobody is told anything",
		file:    "cmd/imagegend/internal/admin/open.go",
		old:     `	if err := private.CheckDir(at.DataDir); err != nil {`,
		new:     `	if err := private.CheckDir(at.DataDir); err != nil && !answers(ctx, place) {`,
		catcher: catcher{pkg: "./cmd/imagegend/internal/admin", run: "TestDirectoryThatEverybodyCanChange"},
	},
	{
		name: "anybodys-database", breaks: "a database that everybody can change is refused",
		file:    "cmd/imagegend/internal/private/private.go",
		old:     `		return checkEntries(dir)`,
		new:     `		return nil`,
		catcher: catcher{pkg: "./cmd/imagegend/internal/admin", run: "TestDatabaseThatEverybodyCanChange"},
	},
	{
		name: "http-unredacted", breaks: "what an upstream repeats of its key is in no log",
		file:    "imagegen/provider/webapi/webapi.go",
		old:     `return p.client.Redacted(func(`,
		new:     `return upstream.Images(func(`,
		catcher: catcher{pkg: "./cmd/imagegend/internal/catalog", run: "TestNoKeyInTheLog"},
	},
	{
		name: "alias-by-its-name", breaks: "what stands in models.yaml is never read as something else",
		file:    "cmd/imagegend/internal/catalog/strict.go",
		old:     `if n.Kind == yaml.AliasNode {`,
		new:     `if n.Kind == 0 {`,
		catcher: catcher{pkg: "./cmd/imagegend/internal/catalog", run: "TestMistakesAreNamed"},
	},
}

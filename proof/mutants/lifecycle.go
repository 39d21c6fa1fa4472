package main

// No image is lost or doubled, and none that is paid for goes missing.
var ofLifecycle = []mutant{
	{
		name: "no-fencing", breaks: "an attempt that was overtaken changes nothing",
		file:    "imagegen/state.go",
		old:     `if attempt != r.Attempt {`,
		new:     `if attempt > r.Attempt {`,
		catcher: catcher{pkg: root, run: "TestStateTable"},
	},
	{
		name: "claim-keeps-the-attempt", breaks: "each claim shuts out the attempt before it",
		file: "imagegen/state.go",
		old: `	r.State, r.Delay = StateProcessing, 0
	r.Attempt++
`,
		new: `	r.State, r.Delay = StateProcessing, 0
	r.Attempt = max(r.Attempt, 1)
`,
		catcher: catcher{pkg: root, run: "TestStateTable|TestApplyKeepsWhatTheChangeSays"},
	},
	{
		name: "provider-before-charge", breaks: "no provider is called before the charge is durable",
		file: "imagegen/engine/generate.go",
		old: `	r, err := c.acceptWithSlot(ctx)
`,
		new: `	for range c.offer.Provider.Generate(ctx, e.providerRequest(c.record, c.offer)) {
		break
	}
	r, err := c.acceptWithSlot(ctx)
`,
		catcher: catcher{pkg: core, run: "TestTheChargeComesFirst"},
	},
	{
		name: "work-after-doubtful-charge", breaks: "a charge whose outcome is unknown is undone, not used",
		file:    "imagegen/engine/settle.go",
		old:     `if err := e.takeCredits(ctx, r); err != nil {`,
		new:     `if err := e.takeCredits(ctx, r); err != nil && imagegen.Definite(err) {`,
		catcher: catcher{pkg: core, run: "TestEveryStepMayFail"},
	},
	{
		name: "intent-forgotten-first", breaks: "an intent is forgotten only after its charge is void",
		file: "imagegen/engine/settle.go",
		old: `	if err := e.settle(ctx, r, 0); err != nil {
		return err
	}
	return e.abandon(ctx, r)
}

func (e *Engine) abandon(`,
		new: `	if err := e.abandon(ctx, r); err != nil {
		return err
	}
	return e.settle(ctx, r, 0)
}

func (e *Engine) abandon(`,
		catcher: catcher{pkg: core, run: "TestEveryStepMayFail"},
	},
	{
		name: "doubtful-charge-left-open", breaks: "every refused or doubtful charge is settled to 0",
		file:    "imagegen/engine/settle.go",
		old:     `voided := e.void(ctx, r)`,
		new:     `_, voided := e.update(ctx, r.Fence(), imagegen.Abandon{})`,
		catcher: catcher{pkg: core, run: "TestEveryStepMayFail"},
	},
	{
		name: "repeated-until-refused", breaks: "what was in doubt is not told to be refused",
		file: "imagegen/engine/settle.go",
		old: `		if failed == nil || errors.Is(failed, imagegen.ErrStale) {
			return again, failed
		}
`,
		new: `		if failed == nil || imagegen.Definite(failed) {
			return again, failed
		}
`,
		catcher: catcher{pkg: core, run: "TestADoubtfulAcceptanceIsNotRefused"},
	},
	{
		name: "settled-without-the-ledger", breaks: "a generation ends if and only if its charge does",
		file:    "imagegen/engine/settle.go",
		old:     `return r, refusal // it stays settling; recovery repeats`,
		new:     `refusal = nil`,
		catcher: catcher{pkg: core, run: "TestEveryStepMayFail"},
	},
	{
		name: "image-not-stored", breaks: "no success is told before the images are durable",
		file:    "imagegen/engine/keep.go",
		old:     `return storing(cmp.Or(m.Err, err))`,
		new:     `m.Err = cmp.Or(m.Err, err)`,
		catcher: catcher{pkg: core, run: "TestAnImageCannotBeStored"},
	},
	{
		name: "broken-image-stored", breaks: "an image is delivered only once it was found whole",
		file:    "imagegen/engine/internal/picture/whole.go",
		old:     `w.err = broken("it ends early")`,
		new:     `w.err = io.EOF`,
		catcher: catcher{pkg: core, run: "TestAnImageIsCutOffAtAnyByte"},
	},
	{
		name: "checksums-passed-over", breaks: "an image is delivered only once it was found whole",
		file:    "imagegen/engine/internal/picture/png.go",
		old:     `if binary.BigEndian.Uint32(c.field.bytes[:]) != c.crc {`,
		new:     `if binary.BigEndian.Uint32(c.field.bytes[:]) == 0 {`,
		catcher: catcher{pkg: core, run: "TestAPNGThatIsNotWhole"},
	},
	{
		name: "pixels-not-decoded", breaks: "where a model asks for it, every pixel of an image is decoded",
		file:    "imagegen/engine/keep.go",
		old:     `if t.Is(header) && a.offer.verification() == imagegen.VerifyStructure {`,
		new:     `if t.Is(header) {`,
		catcher: catcher{pkg: core, run: "TestTheCompressedDataAreBroken"},
	},
	{
		name: "store-that-stops-early", breaks: "an image is delivered only when the store has all of it",
		file:    "imagegen/engine/keep.go",
		old:     `case !m.Ended:`,
		new:     `case m.Over && m.Ended:`,
		catcher: catcher{pkg: core, run: "TestAStoreThatStopsEarly"},
	},
	{
		name: "image-shown-for-a-moment", breaks: "an image that was shown is in every outcome",
		file:    "imagegen/state.go",
		old:     `r.Images = with(r.Images, c.Images)`,
		new:     `r.Images = with(nil, c.Images)`,
		catcher: catcher{pkg: root, run: "TestShow"},
	},
	{
		name: "shown-image-removed", breaks: "an image that was shown is removed by no further attempt",
		file:    "imagegen/engine/leftovers.go",
		old:     `e.removeImages(ctx, r.ID, n, files(r.Images)...)`,
		new:     `e.removeImages(ctx, r.ID, n)`,
		catcher: catcher{pkg: core, run: "TestShownImagesAfterACrash|TestShownImagesAreKeptByADrain"},
	},
	{
		name: "start-removes-what-was-shown", breaks: "an image that was shown survives the next start",
		file:    "imagegen/storage/upkeep.go",
		old:     `db.RemoveImages(ctx, r.ID, n, shown...)`,
		new:     `db.RemoveImages(ctx, r.ID, n)`,
		catcher: catcher{pkg: disk, run: "TestStartKeepsWhatWasShown"},
	},
	{
		name: "cancelled-under-an-upstream", breaks: "what an upstream works on is not cancelled",
		file:    "imagegen/record.go",
		old:     `return r.State == StateQueued && len(r.Job) == 0`,
		new:     `return r.State == StateQueued`,
		catcher: catcher{pkg: core, run: "TestCancelBetweenAttempts"},
	},
	{
		name: "stale-files-removed", breaks: "an image that the record names is not removed",
		file:    "imagegen/engine/outcome.go",
		old:     `e.removeImages(ctx, r.ID, r.Attempt, files(now.Images)...)`,
		new:     `e.removeImages(ctx, r.ID, r.Attempt)`,
		catcher: catcher{pkg: core, run: "TestARecordedImageStays"},
	},
	{
		name: "recovery-requeues-all", breaks: "interrupted synchronous work is failed and refunded",
		file:    "imagegen/engine/recover.go",
		old:     `if !r.Async || whole || lost && r.Failures`,
		new:     `if whole || lost && r.Failures`,
		catcher: catcher{pkg: core, run: "TestRecovery"},
	},
	{
		name: "no-recovery", breaks: "what an attempt that died has left is brought to an end",
		file:    "imagegen/storage/internal/tables/work.go",
		old:     `if !now.Before(held.until) {`,
		new:     `if held.until.IsZero() {`,
		catcher: catcher{pkg: tables, run: "TestWritesMayRunAgain/store"},
	},
	{
		name: "drain-loses-work", breaks: "a drain leaves asynchronous work for the next start",
		file: "imagegen/engine/outcome.go",
		old: `	if errors.Is(err, imagegen.ErrStopping) {
		return imagegen.Release{}, true
	}
`,
		new:     ``,
		catcher: catcher{pkg: core, run: "TestDrain"},
	},
	{
		name: "drain-costs-a-try", breaks: "a drain uses up no try",
		file: "imagegen/engine/outcome.go",
		old: `	if errors.Is(err, imagegen.ErrStopping) {
		return imagegen.Release{}, true
	}
`,
		new: `	if errors.Is(err, imagegen.ErrStopping) {
		return imagegen.Release{Failed: true}, r.Failures < len(e.cfg.Backoff)
	}
`,
		catcher: catcher{pkg: core, run: "TestDrain"},
	},
	{
		name: "unknown-tried-again", breaks: "an upstream that may have been paid is not called again",
		file:    "imagegen/provider.go",
		old:     `return c == ClassRateLimited || c == ClassUnavailable }`,
		new:     `return c != ClassInvalid && c != ClassRefused }`,
		catcher: catcher{pkg: core, run: "TestUnknownIsNotTriedAgain"},
	},
	{
		name: "erasure-of-the-last-attempts", breaks: "an erasure removes what every attempt has left",
		file:    "imagegen/engine/erase.go",
		old:     `for n := 1; n <= r.Attempt; n++ {`,
		new:     `for n := max(1, r.Attempt-1); n <= r.Attempt; n++ {`,
		catcher: catcher{pkg: core, run: "TestErasureCoversEveryAttempt"},
	},
	{
		name: "others-work-recovered", breaks: "what Recover could not take is left to whom it belongs",
		file: "imagegen/engine/recover.go",
		old: `	if err != nil { // whoever's these are, they are not ours
		return nil, err
	}
	return records, nil
`,
		new: `	return records, err
`,
		catcher: catcher{pkg: core, run: "TestRecoveryThatFailed"},
	},
	{
		name: "ledger-asked-once", breaks: "callers notice little of a ledger that fails in passing",
		file:    "imagegen/engine/askledger.go",
		old:     `n == e.cfg.LedgerTries`,
		new:     `n == 1`,
		catcher: catcher{pkg: core, run: "TestLedgerThatFailsAFifth|TestLedgerIsAskedAgain"},
	},
	{
		name: "no-lease-while-charging", breaks: "work that is being charged is not taken for abandoned",
		file:    "imagegen/engine/generate.go",
		old:     `	e.leases.hold(c.record.Fence(), func(error) {}) // a charge may take longer than a lease lasts` + "\n",
		new:     ``,
		catcher: catcher{pkg: core, run: "TestLeaseWhileCharging"},
	},
	{
		name: "recovery-goes-on", breaks: "Stop returns in its time though a ledger hangs",
		file:    "imagegen/engine/recover.go",
		old:     `if ctx.Err() != nil { // what is left`,
		new:     `if ctx == nil { // what is left`,
		catcher: catcher{pkg: core, run: "TestStopBesideALedgerThatHangs"},
	},
	{
		name: "refused-for-ever", breaks: "a settlement that is refused for good ends in dispute",
		file:    "imagegen/engine/settle.go",
		old:     `if refusal != nil && !imagegen.RefusedForGood(refusal) {`,
		new:     `if refusal != nil {`,
		catcher: catcher{pkg: core, run: "TestSettlementRefusedForGood"},
	},
	{
		name: "dispute-forgotten", breaks: "a dispute outlasts the erasure of its generation",
		file:    "imagegen/state.go",
		old:     `r.State, r.Images, r.Failure, r.Balance = StateErased, nil, nil, nil`,
		new:     `r.State, r.Images, r.Failure, r.Balance, r.Dispute = StateErased, nil, nil, nil, ""`,
		catcher: catcher{pkg: root, run: "TestDisputeOfWhatWasErased"},
	},
	{
		name: "resumed-for-ever", breaks: "a job that kills whoever resumes it is given up",
		file:    "imagegen/engine/recover.go",
		old:     `hopeless := r.Resumptions >= mostResumptions`,
		new:     `hopeless := r.Resumptions < 0`,
		catcher: catcher{pkg: core, run: "TestAJobThatKills"},
	},
	{
		name: "guess-confirmed", breaks: "nothing of an erased generation confirms a guess of its prompt",
		file:    "imagegen/engine/idempotency.go",
		old:     `if !erased && former.Fingerprint`,
		new:     `if (erased || !erased) && former.Fingerprint`,
		catcher: catcher{pkg: core, run: "TestErasedRequestsAreNotConfirmed"},
	},
	{
		name: "retired-not-joined", breaks: "a repeated call gets what was charged, also if its model was retired meanwhile",
		file:    "imagegen/engine/idempotency.go",
		old:     `if q.IdempotencyKey == "" && q.Joining == nil {`,
		new:     `if q.IdempotencyKey == "" {`,
		catcher: catcher{pkg: core, run: "TestARepetitionJoinsWhatIsNoLongerOffered"},
	},
	{
		name: "surplus-published", breaks: "more images than asked for are dropped",
		file: "imagegen/engine/attempt.go",
		old: `		if a.count() == a.record.N {
			return nil
		}
`,
		new:     ``,
		catcher: catcher{pkg: core, run: "TestProviderOutcomes"},
	},
	{
		name: "reference-not-verified", breaks: "a provider gets the references that were accepted",
		file:    "imagegen/engine/internal/uploads/stored.go",
		old:     `if n != s.File.Size || `,
		new:     `if n != s.File.Size && `,
		catcher: catcher{pkg: core, run: "TestAReferenceThatIsDamaged"},
	},
	{
		name: "index-left-behind", breaks: "an index has what belongs there and nothing else",
		file:    "imagegen/storage/internal/table/index.go",
		old:     `	if before != nil {`,
		new:     `	if before != nil && after == nil {`,
		catcher: catcher{pkg: tables, run: "TestWritesMayRunAgain/store"},
	},
	{
		name: "prompts-of-images-forgotten", breaks: "only what failed is forgotten",
		file:    "imagegen/storage/internal/tables/rows.go",
		old:     `	if r.State != imagegen.StateFailed || r.Prompt == "" {`,
		new:     `	if !r.Terminal() || r.Prompt == "" {`,
		catcher: catcher{pkg: tables, run: "TestWritesMayRunAgain/store/(Forgettable|Transitions)"},
	},
	{
		name: "hash-of-a-key-kept", breaks: "an erased generation's idempotency key leaves nothing once it is free again",
		file:    "imagegen/engine/maintain.go",
		old:     `		e.forgetAged(ctx, imagegen.StateErased, imagegen.ReservationTime)` + "\n",
		new:     ``,
		catcher: catcher{pkg: core, run: "TestErasedRequestsAreNotConfirmed"},
	},
	{
		name: "erased-loses-its-key", breaks: "an idempotency key goes back to what was erased as to any other",
		file:    "imagegen/storage/internal/tables/rows.go",
		old:     `	hash := imagegen.IdempotencyHash(key)`,
		new:     `	hash := imagegen.IdempotencyHash("of " + key)`,
		catcher: catcher{pkg: tables, run: "TestWritesMayRunAgain/store/ReservationErased"},
	},
	{
		name: "first-prompts-forgotten-only", breaks: "the prompts of all failed generations are forgotten",
		file:    "imagegen/engine/erase.go",
		old:     `			if do(v) {` + "\n",
		new:     `			if do(v) && len(all) < batch {` + "\n",
		catcher: catcher{pkg: core, run: "TestManyPromptsAreForgotten"},
	},
	{
		name: "prompts-forgotten-at-once", breaks: "a prompt is kept as long as its idempotency key answers",
		file:    "imagegen/engine/erase.go",
		old:     `return e.store.Forgettable(ctx, s, age, n)`,
		new:     `return e.store.Forgettable(ctx, s, age-age, n)`,
		catcher: catcher{pkg: core, run: "TestPromptsOfFailedGenerationsAreForgotten"},
	},
	{
		name: "retention-stops-early", breaks: "what is old is erased whatever came before it",
		file:    "imagegen/storage/internal/tables/list.go",
		old:     `			if err == nil && !r.CompletedAt.After(by) {` + "\n",
		new:     `			if err == nil && r.CompletedAt.After(by) { break }` + "\n" + `			if err == nil {` + "\n",
		catcher: catcher{pkg: tables, run: "TestWritesMayRunAgain/store/EndedBehindOthers"},
	},
	{
		name: "job-of-another-upstream", breaks: "an upstream job is resumed only by the upstream that has it",
		file:    "imagegen/engine/offers.go",
		old:     `return len(r.Job) == 0 || `,
		new:     `return true || `,
		catcher: catcher{pkg: core, run: "TestJobLeftToItsUpstream"},
	},
	{
		name: "provider-replaced-under-work", breaks: "work keeps the provider that it was accepted for, whatever models are set",
		file:    "imagegen/engine/generate.go",
		old:     `record: r, offer: c.offer,`,
		new:     `record: r, offer: e.offers.now.Load().offers[r.Model],`,
		catcher: catcher{pkg: core, run: "TestAttemptsKeepTheirProvider"},
	},
	{
		name: "model-dropped-under-a-call", breaks: "no model is dropped while a call for it is on its way to acceptance",
		file:    "imagegen/engine/offers.go",
		old:     `needs[l.Model] + e.offers.calls[l.Model]; l.Count > 0`,
		new:     `needs[l.Model]; l.Count > 0`,
		catcher: catcher{pkg: core, run: "TestModelsComeAndGo|TestModelsThatACallNeeds"},
	},
}

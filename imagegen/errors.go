package imagegen

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Code names a kind of failure. The JSON error object has these values in its field code.
type Code string

// The codes: first those of the specification (section 7), then the extensions.
const (
	CodeInvalidRequest      Code = "invalid_request"
	CodeMissingKey          Code = "missingApiKey"
	CodeInvalidKey          Code = "invalidApiKey"
	CodeExpiredKey          Code = "expiredApiKey"
	CodeInsufficientCredits Code = "insufficientCredits"
	CodeNotFound            Code = "notFound"
	CodeGenerationFailed    Code = "generationFailed"

	CodeCancelled            Code = "cancelled"
	CodeChargeRefused        Code = "chargeRefused"
	CodeIdempotencyKeyReused Code = "idempotencyKeyReused"
	CodeIdempotencyKeyInUse  Code = "idempotencyKeyInUse"
	CodeNotCancellable       Code = "notCancellable"
	CodeRateLimited          Code = "rateLimited"
	CodeOverloaded           Code = "overloaded"
	CodeInternal             Code = "internalError"
)

// Error is the error that a [Service] returns. errors.Is compares codes, so sentinels such as
// ErrNotFound match both in process and through package client.
type Error struct {
	Code    Code
	Message string // safe to show to the caller
	// with invalid_request: the field of the request at fault, if it is one; "" from package client
	Field   string
	Lasting bool // with generationFailed: the same request would fail again; false from package client
	// with generationFailed and cancelled; with idempotencyKeyInUse and internalError if it is known
	Generation GenerationID
	// with overloaded, rateLimited and idempotencyKeyInUse: how long to wait before the next try
	RetryAfter time.Duration
	Replayed   bool  // the error is that of an earlier call with the same idempotency key
	Err        error // the cause, for the log; never shown to the caller
}

// Error returns the code, the message and the cause. It is for the log: callers see Message only.
func (e *Error) Error() string {
	s := string(e.Code)
	if e.Message != "" {
		s += ": " + e.Message
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is an *Error of the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Sentinels for errors.Is, one for each code.
var (
	ErrInvalidRequest      = &Error{Code: CodeInvalidRequest, Message: "the request is invalid"}
	ErrMissingKey          = &Error{Code: CodeMissingKey, Message: "send an API key: Authorization: Bearer <API_KEY>"}
	ErrInvalidKey          = &Error{Code: CodeInvalidKey, Message: "the API key does not exist or has been revoked"}
	ErrExpiredKey          = &Error{Code: CodeExpiredKey, Message: "the API key has expired"}
	ErrInsufficientCredits = &Error{Code: CodeInsufficientCredits,
		Message: "the account has too few credits for this request"}
	ErrNotFound         = &Error{Code: CodeNotFound, Message: "the requested resource was not found"}
	ErrGenerationFailed = &Error{Code: CodeGenerationFailed, Message: messageFailed}
	ErrCancelled        = &Error{Code: CodeCancelled,
		Message: "the generation was cancelled before it began; the credits were returned"}
	ErrChargeRefused        = &Error{Code: CodeChargeRefused, Message: "the account cannot be charged; nothing was"}
	ErrIdempotencyKeyReused = &Error{Code: CodeIdempotencyKeyReused,
		Message: "this Idempotency-Key was used with another request; use a new key"}
	ErrIdempotencyKeyInUse = &Error{Code: CodeIdempotencyKeyInUse,
		Message: "a request with this Idempotency-Key is still running; ask again later"}
	ErrNotCancellable = &Error{Code: CodeNotCancellable,
		Message: "it is too late to cancel the generation: it has ended, or an upstream works on it"}
	ErrRateLimited = &Error{Code: CodeRateLimited, Message: "too many requests; try again later"}
	ErrOverloaded  = &Error{Code: CodeOverloaded,
		Message: "the service cannot take more work at the moment; try again later"}
	ErrInternal = &Error{Code: CodeInternal, Message: "the service failed; try again later"}
)

// Messages for callers about a generation that failed. What the provider said goes only to
// the log.
const (
	messageRefused = "the provider's policy refused this request; the credits were returned; change the prompt or the reference images"
	messageInvalid = "the provider cannot make these images as they are asked for; the credits were returned; change the request"
	messageBlocked = "the provider cannot be used until the operator of the service has mended it; the credits were returned"
	messageFailed  = "the images could not be generated; the credits were returned; try again"
)

// Errors between the engine and the implementations of its interfaces. A [Service] does not
// return them: see ToUserError.
var (
	// ErrStopping: the engine is stopping. It is the cause of a provider's context that ends
	// because Engine.Stop no longer waits.
	ErrStopping = errors.New("imagegen: the engine is stopping")
	// ErrStale: another attempt has taken the generation over, or the record no longer exists. It
	// is also the cause of a provider's context that ends because the attempt lost its lease.
	ErrStale = errors.New("imagegen: another attempt has taken over")
	// ErrTransition: the change is not possible in the record's state.
	ErrTransition = errors.New("imagegen: the change is not possible in this state")
	// ErrNotApplied: nothing was written: a queue or the disk is full, or the context ended
	// first. A [Violation] is an ErrNotApplied too.
	ErrNotApplied = errors.New("imagegen: nothing was written")
	// ErrAccountLocked: another program holds the row of an account, and enough calls wait for it, or this one has
	// waited for long. It is an ErrNotApplied. A settlement is repeated until it goes through.
	ErrAccountLocked = fmt.Errorf("%w: another program holds the account", ErrNotApplied)
	// ErrExists: the identifier or the name is taken.
	ErrExists = errors.New("imagegen: the identifier or the name is taken")
	// ErrChargeConflict: the charge exists with another user or amount.
	ErrChargeConflict = errors.New("imagegen: the charge exists with another user or amount")
	// ErrChargeClosed: the charge was settled before.
	ErrChargeClosed = errors.New("imagegen: the charge was settled before")
	// ErrGrantConflict: the Ref exists with another user, amount or lot.
	ErrGrantConflict = errors.New("imagegen: the reference exists with another user, amount or lot")
)

// IdempotencyKeyTakenError says that another generation, Record, holds the idempotency key. Nothing was
// written.
type IdempotencyKeyTakenError struct{ Record Record }

func (e *IdempotencyKeyTakenError) Error() string {
	return "imagegen: the idempotency key is reserved by " + string(e.Record.ID)
}

// Definite reports whether err says that a write of a Store or a Ledger changed nothing.
// After any other error the outcome of that write is unknown.
func Definite(err error) bool {
	for _, definite := range []error{ErrStale, ErrTransition, ErrNotApplied, ErrExists, ErrNotFound, ErrInvalidRequest,
		ErrInvalidKey, ErrExpiredKey, ErrInsufficientCredits, ErrRateLimited, ErrChargeRefused, ErrChargeConflict,
		ErrChargeClosed, ErrGrantConflict} {
		if errors.Is(err, definite) {
			return true
		}
	}
	_, reserved := errors.AsType[*IdempotencyKeyTakenError](err)
	return reserved
}

// Permanent reports whether err says that a Ledger changed nothing and would refuse the
// same call again: the error is [Definite], but not ErrNotApplied.
func Permanent(err error) bool { return Definite(err) && !errors.Is(err, ErrNotApplied) }

// Invalid returns an ErrInvalidRequest with a message for the caller. Config.Admit, a Policy or
// an interface such as httpapi uses it to say what is wrong and what to do.
func Invalid(format string, args ...any) *Error {
	return &Error{Code: CodeInvalidRequest, Message: fmt.Sprintf(format, args...)}
}

// InvalidField is Invalid, and also names the field of the request, as the JSON interface
// calls it.
func InvalidField(field, format string, args ...any) *Error {
	e := Invalid(format, args...)
	e.Field = field
	return e
}

// ChargeRefused returns an ErrChargeRefused with a message for the caller. A [Ledger] returns it
// for a charge that it would also refuse if it were repeated, for example because the account is
// suspended.
func ChargeRefused(format string, args ...any) *Error {
	return &Error{Code: CodeChargeRefused, Message: fmt.Sprintf(format, args...)}
}

// Internal returns an ErrInternal with a cause, which only the log shows.
func Internal(err error) *Error {
	return &Error{Code: CodeInternal, Message: ErrInternal.Message, Err: err}
}

// Overloaded returns an ErrOverloaded with a cause: nothing was charged, and the caller may try
// again after the time retry.
func Overloaded(retry time.Duration, err error) *Error {
	return &Error{Code: CodeOverloaded, Message: ErrOverloaded.Message, RetryAfter: retry, Err: err}
}

// ToUserError turns an error of a Store or a Ledger into one that a user may see. It returns nil,
// an *Error and the errors of contexts unchanged. ErrExists becomes an ErrInvalidRequest,
// ErrNotApplied an ErrOverloaded, and everything else, including a [Violation], an ErrInternal.
// The result wraps err.
func ToUserError(err error) error {
	_, coded := errors.AsType[*Error](err)
	_, broken := errors.AsType[Violation](err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), coded:
		return err
	case errors.Is(err, ErrExists):
		return &Error{Code: CodeInvalidRequest, Message: "the name is taken; choose another", Err: err}
	case errors.Is(err, ErrNotApplied) && !broken:
		return Overloaded(time.Second, err)
	}
	return Internal(err)
}

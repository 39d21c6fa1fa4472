package admin

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

var (
	// ListTrail lists the audit trail, which records what the other calls do, newest first.
	ListTrail = Call[TrailQuery, TrailPage]{Name: "trail", Scope: account.ScopeRead}
	// Audit checks the books and every image. It does not stop the service, and takes as long as there is data. An
	// error means that it could not be carried out; violations are in the report.
	Audit = Call[None, imagegen.AuditReport]{Name: "audit", Scope: account.ScopeData}
	// Backup writes one archive of everything. It takes as long as there is data.
	Backup = Download{Name: "backup", Scope: account.ScopeData}
	// GetBackups describes the scheduled backups of the server. Without a server there are none.
	GetBackups = Call[None, Backups]{Name: "backups", Scope: account.ScopeRead}
	// GetReadiness says whether the server takes work. Without a server no work is taken.
	GetReadiness = Call[None, Readiness]{Name: "readiness", Scope: account.ScopeRead}
	// GetClock says whether the wall clock is in doubt.
	GetClock = Call[None, Clock]{Name: "clock", Scope: account.ScopeRead}
	// ConfirmClock accepts the wall clock as it is, durably.
	ConfirmClock = Call[None, None]{Name: "confirm-clock", Scope: account.ScopeData}
)

// TrailQuery selects rows of the audit trail, as [account.TrailQuery] does. Target may also be the name of
// a user or of a webhook.
type TrailQuery struct {
	Actor  string `json:"actor"`
	Act    string `json:"act"`
	Target string `json:"target"`
	Since  Time   `json:"since"`
	Before uint64 `json:"before"`
	Limit  int    `json:"limit"`
}

// TrailPage is one page of the audit trail, newest first.
type TrailPage struct {
	Rows []TrailRow `json:"rows"`
	Next uint64     `json:"next"` // Before of the next page; 0: this page is the last
}

// TrailRow is one row of the audit trail. Before and After are texts that the act wrote; they never hold a secret or
// a prompt.
type TrailRow struct {
	Seq     uint64               `json:"seq"`
	Time    Time                 `json:"time"`
	Via     string               `json:"via"`
	Actor   string               `json:"actor"`
	ActorID imagegen.UserID      `json:"actor_id"`
	Address string               `json:"address"`
	Act     account.Act          `json:"act"`
	Target  string               `json:"target"`
	User    string               `json:"user"` // name of the user who owns the target
	UserID  imagegen.UserID      `json:"user_id"`
	Before  string               `json:"before"`
	After   string               `json:"after"`
	Outcome account.TrailOutcome `json:"outcome"`
	Count   int                  `json:"count"`
}

// Backups describes the backups that a server makes by itself.
type Backups struct {
	Dir          string `json:"dir"` // directory or address of a bucket; "": no backups are made
	EverySeconds int64  `json:"every_seconds"`
	Keep         int    `json:"keep"`
	Archives     int    `json:"archives"`  // how many exist
	Last         string `json:"last"`      // name of the newest; "": there is none
	LastAt       Time   `json:"last_at"`   // the moment whose data it holds
	Bytes        int64  `json:"bytes"`     // of the newest
	FailedAt     Time   `json:"failed_at"` // last failure since the newest archive; null: none
	Failure      string `json:"failure"`   // why
	Trouble      string `json:"trouble"`   // what an operator should look into; "": nothing
}

// Readiness says whether work is taken. Warnings do not change that.
type Readiness struct {
	Ready    bool     `json:"ready"`
	Reasons  []string `json:"reasons"` // codes of why not, such as "disk" and "draining"
	Warnings []string `json:"warnings"`
}

// Clock says whether the wall clock is trusted.
type Clock struct {
	InDoubt bool   `json:"in_doubt"`
	Leap    string `json:"leap"` // what the clock did, in words; "" if it is not in doubt
}

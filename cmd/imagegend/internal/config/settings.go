// Package config holds the settings of the command imagegend. A flag counts before its environment variable, that
// before the file imagegend.yaml, and that before the default.
//
// [Settings] has a field for each. Methods such as ServeFlags declare those that a command needs, as pflag flags:
// name, default, help and parser are written once, in settings.go and signin.go. [Load] then fills what was not given
// as a flag. How several settings go together is checked where they are used: those of serve by daemon.Check, those of
// where the data lies by Data.Check.
package config

import (
	"net/netip"
	"time"

	"github.com/spf13/pflag"

	"github.com/imagegend/imagegend/imagegen"
)

const (
	// DefaultDataDir is the default of --data-dir.
	DefaultDataDir = "./imagegend-data"
	// DefaultURL is the default of --url: where a server with the default --addr listens.
	DefaultURL  = "http://" + defaultAddr
	defaultAddr = "127.0.0.1:8080"
	letsEncrypt = "https://acme-v02.api.letsencrypt.org/directory"
)

// Settings has every setting. A command declares flags for those it needs; the others keep their zero value, not
// their default.
type Settings struct {
	Server
	Client
	Data
	Dev bool
}

// Server has the settings of serve but those of Data. What each means is in docs/operating.md. Their parsers check
// them one by one; what must hold between them daemon.Check says, and package signin for the ways to sign in.
type Server struct {
	// Where the service listens, and as what it is known.
	Addr           string
	BaseURL        string
	TrustedProxies []netip.Prefix
	CORSOrigins    []string
	PersonHeaders  []string // none: those of package httpapi
	// Certificate and key belong together; ACMEDomains exclude them.
	TLSCert       string // "": no TLS, unless ACMEDomains are named
	TLSKey        string
	ACMEDomains   []string
	ACMEEmail     string
	ACMEDirectory string
	ImageLinks    string // "proxy", or Redirect: callers are sent to the object store
	OpsAddr       string // "": metrics and readiness are on the admin socket only

	// What is made, by which rules, how much at once, and how long it is kept. "never" on the command line is a
	// duration of 0. Models is a file, or catalog.Fake; "" is models.yaml beside the configuration file, if there is
	// one.
	Models         string
	Policy         string
	Concurrency    int
	Nodes          int
	MaxQueued      int
	FairShares     bool
	MaxRefusals    int // 0: any number
	SlotWait       time.Duration
	AttemptTimeout time.Duration
	Retain         time.Duration // 0: for ever
	KeepFailed     time.Duration // prompts of failed generations; 0: for ever
	TrailRetain    time.Duration // 0: for ever
	Events         bool
	EventsRetain   time.Duration // 0: for ever
	Webhooks       string
	CostAbove      imagegen.Micros // 0: no event tells of costs
	JoinWindow     time.Duration   // 0: no call joins another

	Money

	// The account area in the browser.
	Console              bool
	OperatorName         string
	OperatorPasswordFile string
	BrandName            string // "": the console's own
	BrandLogo            string // "": the console's own
	BrandAccent          string // "": the console's own
	SignIn

	// The process: its end, its log.
	DrainTimeout time.Duration
	LogFormat    string
	LogLevel     string
	ReadyFile    string // "": none is written

	// Operators' programs and scheduled backups.
	OpsAdmin    bool
	BackupTo    string // "": no backups are made
	BackupEvery time.Duration
	BackupKeep  int
}

// Money has the settings by which revenue and costs are shown to operators.
type Money struct {
	Currency    string          // three capital letters
	CreditValue imagegen.Micros // what one credit is worth; 0: it is not known
}

// Client has the settings of generate, quote and mcp.
type Client struct {
	// Where the service is, and who pays.
	URL    string
	APIKey string

	// What to ask for, and how generate goes about it.
	Model      string
	Output     string
	References []string
	N          int
	Size       string
	Quality    string
	Async      bool
	NoWait     bool

	// Options that only some models have; their defaults ask for nothing.
	OutputFormat      string // "": any
	OutputCompression int    // below 0: the usual
	Background        string
	MaxCredits        int64
	Seed              int64 // below 0: any
	Mask              string

	Dir string // of mcp; "": agents have no files
}

// Names of groups, as the help shows them.
const (
	groupData    = "Data"
	groupNetwork = "Network"
	groupWork    = "Models and work"
	groupMoney   = "Money"
	groupProcess = "Process"
	groupImage   = "Image"
	groupConnect = "Connection"
	groupConsole = "Console"
)

// ServeFlags declares the flags of serve, which config, doctor and config validate have too. Within a group the order
// is that of the help. Declaring a flag also sets its field to the default.
func (s *Settings) ServeFlags(fs *pflag.FlagSet) {
	s.DataFlags(fs)
	declare(fs, groupNetwork, func(fs *pflag.FlagSet) {
		fs.Var(newText(&s.Addr, defaultAddr, "address", parseListenAddress), "addr",
			"`address` to listen on; port 0 takes a free one")
	})
	s.BaseURLFlag(fs,
		"public address of the service, for the addresses in answers; without it, the Host of the request")
	declare(fs, groupNetwork, func(fs *pflag.FlagSet) {
		fs.Var(&list[netip.Prefix]{&s.TrustedProxies, parsePrefix}, "trusted-proxy",
			"`address` or network of a proxy whose forwarded headers count; repeatable")
		fs.Var(&list[string]{&s.CORSOrigins, parseOrigin}, "cors-origin",
			"`origin` whose pages may call the service from a browser, or *; repeatable")
		fs.Var(&list[string]{&s.PersonHeaders, parseHeader}, "person-header",
			"`header` that names the person who asks, for keys on behalf of people; the first that is there counts; repeatable; without it, X-OpenWebUI-User-Id and X-OpenWebUI-User-Email")
		fs.Var(newWord(&s.ImageLinks, "proxy", Redirect), "image-links",
			"how callers read images: proxy sends them, redirect leads to the object store of --images by links that expire after 5 minutes")
		fs.StringVar(&s.TLSCert, "tls-cert", "",
			"`file` with the certificate and its chain, to serve https; read again when it changes")
		fs.StringVar(&s.TLSKey, "tls-key", "", "`file` with the certificate's private key")
		fs.Var(&list[string]{&s.ACMEDomains, parseDomain}, "acme-domain",
			"`domain` for which to have a certificate issued, by port 443; repeatable")
		fs.StringVar(&s.ACMEEmail, "acme-email", "",
			"`address` that the authority writes to when a certificate is in trouble")
		fs.Var(newText(&s.ACMEDirectory, letsEncrypt, "URL", parseBaseURL), "acme-directory",
			"`URL` of the authority that issues certificates")
		fs.Var(newText(&s.OpsAddr, "", "address", parseOpsAddress), "ops-addr",
			"`address` to serve metrics, health and readiness on, for operators; :9090 is on this machine only; without it, they are on the admin socket alone")
		declareBool(fs, &s.OpsAdmin, "ops-admin", false,
			"let programs with an operator key administer the service at --ops-addr; beyond this machine only with TLS or a trusted proxy")
	})
	s.ModelsFlags(fs)
	declare(fs, groupWork, func(fs *pflag.FlagSet) {
		fs.Var(newCount(1, &s.Concurrency, 512), "concurrency", "generations under way at once, of all models")
		fs.Var(newCount(1, &s.Nodes, 1), "nodes",
			"nodes on the database, each with an equal share of every model's max_concurrent")
		fs.Var(newCount(1, &s.MaxQueued, 10_000), "max-queued", "asynchronous generations that may wait; beyond it 503")
		declareBool(fs, &s.FairShares, "fair-shares", true,
			"keep half of the queue and one slot in eight from any one user of several")
		fs.Var(newCount(0, &s.MaxRefusals, 30), "max-refusals",
			"generations of a user that providers may refuse in an hour, beyond as many as succeed; then 429; 0: any number")
		fs.Var(newDuration(&s.SlotWait, 30*time.Second, positive), "slot-wait",
			"longest wait of a synchronous call for its turn; then 503")
		fs.Var(newDuration(&s.AttemptTimeout, 800*time.Second, positive), "attempt-timeout",
			"longest time of a synchronous call, and of each asynchronous attempt")
		fs.Var(newPeriod(&s.JoinWindow, 10*time.Minute, anyDuration), "join-window",
			"how long an answer that nobody received is kept for a client that repeats its call, or never")
		fs.Var(newPeriod(&s.Retain, 0, retention), "retain",
			"age at which generations are erased, 24h or more, or never")
		fs.Var(newPeriod(&s.KeepFailed, 72*time.Hour, retention), "keep-failed-prompts",
			"how long after its end the prompt of a failed generation is forgotten, 24h or more, or never")
		fs.Var(newPeriod(&s.TrailRetain, 400*24*time.Hour, anyDuration), "trail-retain",
			"age at which rows of the audit trail are removed, or never")
		declareBool(fs, &s.Events, "events", false, "keep a feed of what happens, for other programs")
		fs.Var(newPeriod(&s.EventsRetain, 30*24*time.Hour, anyDuration), "events-retain",
			"age at which events are removed from the feed, or never")
		fs.StringVar(&s.Webhooks, "webhooks", "",
			"`file` with addresses that get events, and their secrets, readable by nobody else")
	})
	s.MoneyFlags(fs)
	declare(fs, groupMoney, func(fs *pflag.FlagSet) {
		fs.Var(newAmount(&s.CostAbove), "cost-notify-above",
			"`amount` that the upstreams of one day may cost before an event tells of it; without it, none does")
	})
	s.consoleFlags(fs)
	s.SignIn.flags(fs)
	s.backupFlags(fs)
	s.devFlag(fs, groupProcess, "temporary data, an account, 1,000 credits and a key; on this machine only")
	declare(fs, groupProcess, func(fs *pflag.FlagSet) {
		fs.Var(newDuration(&s.DrainTimeout, 15*time.Second, anyDuration), "drain-timeout",
			"how long work under way may go on after SIGTERM")
		fs.Var(newWord(&s.LogFormat, "auto", "text", "json"), "log-format",
			"auto, text or json; auto is text on a terminal or with --dev, else json")
		fs.Var(newWord(&s.LogLevel, "info", "debug", "warn", "error"), "log-level",
			"the least severe level that is logged: debug, info, warn or error")
		fs.StringVar(&s.ReadyFile, "ready-file", "",
			"`file` for the program that started this one: its addresses, as long as it answers")
	})
}

// GenerateFlags declares the flags of generate.
func (s *Settings) GenerateFlags(fs *pflag.FlagSet) {
	declare(fs, groupImage, func(fs *pflag.FlagSet) {
		fs.StringVarP(&s.Output, "output", "o", "",
			"`file` to write, - for standard output; without it, a new file named after the prompt")
		s.imageFlags(fs)
		fs.StringVar(&s.Mask, "mask", "",
			"PNG `file` whose transparent parts are made anew in the first reference image")
		fs.Int64Var(&s.MaxCredits, "max-credits", 0, "refuse if all images together cost more `credits`; 0: no maximum")
		declareBool(fs, &s.Async, "async", false, "queue the work and poll until it is done")
		declareBool(fs, &s.NoWait, "no-wait", false, "queue the work, print its id and leave")
	})
	s.connectFlags(fs)
	s.devFlag(fs, groupConnect, "draw without any server: nothing is charged, nothing kept but the image")
}

// QuoteFlags declares the flags of quote.
func (s *Settings) QuoteFlags(fs *pflag.FlagSet) {
	declare(fs, groupImage, s.imageFlags)
	s.connectFlags(fs)
}

// imageFlags declares what a request for images says, for generate and quote alike.
func (s *Settings) imageFlags(fs *pflag.FlagSet) {
	fs.StringArrayVar(&s.References, "ref", nil, "reference image `file`, PNG, JPEG or WebP; repeatable")
	fs.Var(newCount(1, &s.N, 1), "n", "number of images, 1 to 4")
	fs.StringVar(&s.Size, "size", "auto", "`WIDTHxHEIGHT` in pixels, or auto")
	fs.StringVar(&s.Quality, "quality", "auto", "`effort`: auto, low, medium or high")
	fs.StringVar(&s.Model, "model", "", "`id` of the model; without it, the only one that the service lists")
	fs.StringVar(&s.OutputFormat, "output-format", "",
		"`format` of the images: png, jpeg or webp; without it, as the model makes them")
	fs.IntVar(&s.OutputCompression, "output-compression", -1, "`quality` of a jpeg or webp, 0 to 100; -1: the usual")
	fs.StringVar(&s.Background, "background", "auto", "what is behind the subject: auto, opaque or transparent")
	fs.Int64Var(&s.Seed, "seed", -1, "`number` that seeds the model's randomness; -1: any")
}

// MCPFlags declares the flags of mcp.
func (s *Settings) MCPFlags(fs *pflag.FlagSet) {
	declare(fs, groupImage, func(fs *pflag.FlagSet) {
		fs.StringVar(&s.Dir, "dir", "",
			"`directory` in which agents may read reference images and save new ones; without it, no files")
	})
	s.connectFlags(fs)
	s.devFlag(fs, groupConnect, "draw without any server: nothing is charged, nothing kept but the images in --dir")
}

// connectFlags declares where a client finds the service and who pays.
func (s *Settings) connectFlags(fs *pflag.FlagSet) {
	declare(fs, groupConnect, func(fs *pflag.FlagSet) {
		fs.Var(newText(&s.URL, DefaultURL, "URL", parseBaseURL), "url", "address of the service")
		fs.StringVar(&s.APIKey, "api-key", "",
			"API `key`; better kept in the environment, where the process list does not show it")
	})
}

// DataFlags declares where the data lies. Whether the flags go together, Data.Check says.
func (s *Settings) DataFlags(fs *pflag.FlagSet) {
	s.DataDirFlag(fs)
	s.DatabaseFlags(fs)
	declare(fs, groupData, func(fs *pflag.FlagSet) {
		fs.StringVar(&s.Images, "images", "",
			"`address` of a bucket for images beside --database, as s3://bucket/prefix?endpoint=https://…")
		fs.Var(newCount(0, &s.DatabaseConnections, 0), "database-connections",
			"most connections to --database at once; 0: what pool_max_conns in its address says, or 16")
	})
}

// DatabaseFlags declares the database alone, for commands that need no images.
func (s *Settings) DatabaseFlags(fs *pflag.FlagSet) {
	declare(fs, groupData, func(fs *pflag.FlagSet) {
		fs.StringVar(&s.Database, "database", "",
			"`address` of a PostgreSQL database, postgres://…, that other nodes use too; without it, the data directory has its own")
		fs.StringVar(&s.DatabaseSchema, "database-schema", DefaultSchema,
			"`name` of the schema of --database in which the tables lie")
	})
}

// DataDirFlag declares --data-dir alone, for commands that work on a directory and on no database.
func (s *Settings) DataDirFlag(fs *pflag.FlagSet) {
	declare(fs, groupData, func(fs *pflag.FlagSet) {
		fs.StringVar(&s.DataDir, "data-dir", DefaultDataDir, "`directory` with database and images")
	})
}

// BaseURLFlag declares --base-url. Each command that has it uses it for something else, and says so in usage.
func (s *Settings) BaseURLFlag(fs *pflag.FlagSet, usage string) {
	declare(fs, groupNetwork, func(fs *pflag.FlagSet) {
		fs.Var(newText(&s.BaseURL, "", "URL", parseBaseURL), "base-url", usage)
	})
}

// backupFlags declares the settings of scheduled backups, which only serve makes.
func (s *Settings) backupFlags(fs *pflag.FlagSet) {
	declare(fs, groupData, func(fs *pflag.FlagSet) {
		fs.StringVar(&s.BackupTo, "backup-to", "",
			"`directory` of its own for backups, or s3://bucket/prefix?endpoint=https://…; made regularly and each verified; without it, none are made")
		fs.Var(newDuration(&s.BackupEvery, 6*time.Hour, positive), "backup-every", "time from one backup to the next")
		fs.Var(newCount(1, &s.BackupKeep, 14), "backup-keep", "how many backups are kept; older ones are removed")
	})
}

// consoleFlags declares the settings of the console but those for signing in, which SignIn declares.
func (s *Settings) consoleFlags(fs *pflag.FlagSet) {
	declare(fs, groupConsole, func(fs *pflag.FlagSet) {
		declareBool(fs, &s.Console, "console", true, "serve the account area in the browser, under /console/")
		fs.StringVar(&s.OperatorName, "operator-name", "operator",
			"`name` of the first operator, with --operator-password-file")
		fs.StringVar(&s.OperatorPasswordFile, "operator-password-file", "",
			"`file` with the first operator's password, readable by nobody else; counts until there is an operator")
		fs.StringVar(&s.BrandName, "brand-name", "", "`name` that the account area goes by; without it, imagegend")
		fs.StringVar(&s.BrandLogo, "brand-logo", "",
			"`file` with the logo that the account area shows, an SVG or a PNG; read when the service starts")
		fs.StringVar(&s.BrandAccent, "brand-accent", "",
			"`colour` of links and buttons in the account area, such as 0a7d5a; made lighter or darker where it could not be read")
	})
}

// MoneyFlags declares what serve needs to show revenue and costs, and a command that finds no server.
func (m *Money) MoneyFlags(fs *pflag.FlagSet) {
	declare(fs, groupMoney, func(fs *pflag.FlagSet) {
		fs.Var(newText(&m.Currency, "USD", "code", parseCurrency), "currency",
			"`code` of the currency in which upstreams are paid, three capital letters")
		fs.Var(newAmount(&m.CreditValue), "credit-value",
			"`amount` of it that a caller pays for one credit, such as 0.01; without it, no revenue is shown")
	})
}

// ModelsFlags declares what says how the models are read, for commands that need nothing else of serve.
func (s *Settings) ModelsFlags(fs *pflag.FlagSet) {
	declare(fs, groupWork, func(fs *pflag.FlagSet) {
		fs.StringVar(&s.Models, "models", "",
			"`file` with models and prices, or fake for test pictures; without it, models.yaml beside the configuration file")
		fs.Var(newWord(&s.Policy, "size-first", "quality-first"), "policy",
			"what decides ratio and tier: size-first or quality-first")
	})
}

// devFlag declares --dev, which means something different to each command that has it.
func (s *Settings) devFlag(fs *pflag.FlagSet, group, usage string) {
	declare(fs, group, func(fs *pflag.FlagSet) { declareBool(fs, &s.Dev, "dev", false, usage) })
}

// AllFlags declares every setting. Of those that commands share, such as --dev, the first declaration counts.
func (s *Settings) AllFlags(fs *pflag.FlagSet) {
	s.ServeFlags(fs)
	s.GenerateFlags(fs)
	s.MCPFlags(fs)
}

package console

import (
	"strconv"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// lotsShown is how many lots a page lists: those that are spent first. There may be thousands.
const lotsShown = 50

// creditsView is the data of credits.html.
type creditsView struct {
	Person  person
	Balance imagegen.Balance
	imagegen.Holdings
	Spent  *spending
	Ledger ledgerView
}

// ledgerView is the data of the template "ledger".
type ledgerView struct {
	Of    string // the user whose ledger an operator sees, without prompts; "": the person's own
	CSV   string // the address of the whole ledger as a file
	Lines []ledgerLine
	Pager pager
}

// credits shows the person's own account: balance, lots, what was spent, and the ledger.
func (c *Console) credits(p *page) (err error) {
	v := creditsView{Person: p.person}
	if v.Balance, err = p.service().Balance(p.context()); err != nil {
		return err
	}
	if v.Holdings, err = c.cfg.Ledger.Holdings(p.context(), p.person.ID, lotsShown); err != nil {
		return err
	}
	if v.Spent, err = c.spending(p); err != nil {
		return err
	}
	if v.Ledger, err = c.ledger(p, p.person.ID); err != nil {
		return err
	}
	v.Ledger.CSV = c.path("credits", "ledger.csv")
	return p.render("credits", v)
}

// ledger returns the page of a user's ledger that the address asks for.
func (c *Console) ledger(p *page, u imagegen.UserID) (v ledgerView, err error) {
	before, err := cursor(p.r.URL.Query().Get("before"))
	if err != nil {
		return v, err
	}
	lines, after, err := c.ledgerLines(p.context(), u, before)
	return ledgerView{Lines: lines, Pager: p.pager("before", toCursor(after)).at("ledger")}, err
}

// toCursor is the cursor in an address that leads to a number; "" for 0, which means that there are no more.
func toCursor(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

// cursor parses the number of an entry or of a row in an address; "" is 0, which means from the newest.
func cursor(s string) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, imagegen.Invalid("the address of this page is wrong: before must be a number")
	}
	return n, nil
}

// at makes the links lead to an element of the page instead of its top.
func (l pager) at(id string) pager {
	for _, address := range []*string{&l.First, &l.Next} {
		if *address != "" {
			*address += "#" + id
		}
	}
	return l
}

// reference is the reference of a grant as it is shown. One that the console generated means nothing to anybody: "".
func reference(ref string) string {
	if strings.HasPrefix(ref, oncePrefix) {
		return ""
	}
	return ref
}

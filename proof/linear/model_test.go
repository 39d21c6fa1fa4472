package linear_test

// The sizes of one account's history. No balance may exceed a byte.
const (
	chargeIDs  = 80
	refs       = 32
	mostCharge = 4
	mostGrant  = 7
	mostMember = 8 // what the member of an account may use

	_ uint8 = refs * mostGrant
)

type kind uint8

const (
	charge kind = iota // Ledger.Charge
	settle             // Ledger.Settle, to 0 as well
	create             // TxStore.CreateCharged
	finish             // TxStore.FinishSettled
	grant
	revoke
	balance
	pay   // AccountStore.SetSponsor: the account pays for its member
	leave // the same: it pays no more
)

func (k kind) String() string {
	return [...]string{"charge", "settle", "create", "finish", "grant", "revoke", "balance", "pay", "leave"}[k]
}

// input is one call: of a charge, a reference or neither, and an amount.
type input struct {
	kind    kind
	account int
	id      uint8
	amount  uint8
}

type answer string

const (
	done         answer = "done"
	insufficient answer = "insufficient"
	conflict     answer = "conflict"
	closed       answer = "closed"
	refused      answer = "refused"
	unknown      answer = "unknown charge"
	notApplied   answer = "not applied"
	lost         answer = "lost"
)

// output is an answer. credits are what stands as charged, as a create tells, or as used, as a finish
// tells; balance is what a finish and a read tell.
type output struct {
	answer           answer
	credits, balance uint8
}

// account is the state of one account, small and comparable.
type account struct {
	credits uint8
	charges [chargeIDs]charged
	refs    [refs]int8 // what each granted; negative: revoked
	left    bool       // it does not pay for its member
}

// ofMember reports whether a generation is the member's, for whom the account pays.
func ofMember(id uint8) bool { return id%4 == 1 }

// used is what counts against the limit of the member: what came back does not.
func (a account) used() (sum uint8) {
	for id, c := range a.charges {
		switch {
		case !ofMember(uint8(id)):
		case c.state == open:
			sum += c.credits
		default:
			sum += c.used
		}
	}
	return sum
}

// charged is what later answers depend on, and no more: else one account would look like many.
type charged struct {
	state         chargeState
	credits, used uint8
	balance       uint8 // as of a finish, if there was an image: it is answered again
}

type chargeState uint8

const (
	absent chargeState = iota
	open
	ended
)

// do is the ledger, in one page.
func (a account) do(in input) (account, output) {
	switch in.kind {
	case charge, create:
		return a.charge(in)
	case settle, finish:
		return a.settle(in)
	case grant, revoke:
		return a.book(in)
	case pay, leave:
		a.left = in.kind == leave
		return a, output{answer: done}
	}
	return a, output{answer: done, balance: a.credits}
}

func (a account) charge(in input) (account, output) {
	c := &a.charges[in.id]
	switch {
	case c.state != absent && in.kind == create: // the record that stands is the answer
		return a, output{answer: done, credits: c.credits}
	case c.state == ended:
		return a, output{answer: closed}
	case c.state == open && c.credits != in.amount:
		return a, output{answer: conflict}
	case c.state == open:
		return a, output{answer: done}
	case in.kind == create && ofMember(in.id) && a.left:
		return a, output{answer: refused}
	case a.credits < in.amount, in.kind == create && ofMember(in.id) && a.used()+in.amount > mostMember:
		return a, output{answer: insufficient}
	}
	a.credits -= in.amount
	*c = charged{state: open, credits: in.amount}
	if in.kind == create {
		return a, output{answer: done, credits: in.amount}
	}
	return a, output{answer: done}
}

func (a account) settle(in input) (account, output) {
	c := &a.charges[in.id]
	switch {
	case c.state == absent && in.kind == settle && in.amount == 0: // the mark against a late charge
		c.state = ended
		return a, output{answer: done}
	case c.state == absent:
		return a, output{answer: unknown}
	case c.state == ended && in.kind == finish: // the outcome that stands is the answer
		return a, c.repeated()
	case c.state == ended && c.used == in.amount:
		return a, output{answer: done}
	case c.state == ended, in.amount > c.credits:
		return a, output{answer: conflict}
	}
	a.credits += c.credits - in.amount
	if in.kind == settle {
		*c = charged{state: ended, used: in.amount}
		return a, output{answer: done}
	}
	c.state, c.used = ended, in.amount
	switch {
	case c.used == 0, ofMember(in.id) && a.left: // whom the balance of others does not concern
	case ofMember(in.id):
		c.balance = min(a.credits, mostMember-a.used())
	default:
		c.balance = a.credits
	}
	return a, c.repeated()
}

// repeated is what the answer to a finish says.
func (c charged) repeated() output { return output{done, c.used, c.balance} }

func (a account) book(in input) (account, output) {
	amount := int8(in.amount)
	if in.kind == revoke {
		amount = -amount
	}
	switch stands := a.refs[in.id]; {
	case stands == amount:
		return a, output{answer: done}
	case stands != 0:
		return a, output{answer: conflict}
	case int(a.credits)+int(amount) < 0:
		return a, output{answer: insufficient}
	}
	a.credits += uint8(amount)
	a.refs[in.id] = amount
	return a, output{answer: done}
}

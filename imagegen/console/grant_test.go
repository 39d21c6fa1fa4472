package console_test

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
)

var onceField = regexp.MustCompile(`name="once" value="([^"]+)"`)

func TestGrant(t *testing.T) {
	s := open(t)
	v := s.operator()
	alice := s.newcomer("alice")
	page := "users/" + string(alice.ID)
	balance := func(want imagegen.Credits) {
		t.Helper()
		b, err := s.DB.Balance(t.Context(), alice.ID)
		s.is.NoErr(err)
		s.is.Equal(b.Credits, want)
	}
	day := s.clock.Now().AddDate(0, 0, 7)
	once := onceField.FindStringSubmatch(v.get(page).body)[1]
	form := []string{"credits", "1,000", "expires", day.Format("2006-01-02"), "promo", "yes", "once", once}
	a := v.post(page+"/grants", form...)
	s.is.True(v.follow(a).has("Granted to alice: 1,000 credits. The balance is 1,000.", "gift"))
	lots, err := s.DB.Lots(t.Context(), alice.ID)
	s.is.NoErr(err)
	s.is.Equal(len(lots), 1)
	s.is.True(lots[0].Promo)
	// all of that day counts
	s.is.Equal(lots[0].Expires.Format("2006-01-02T15:04:05"), day.AddDate(0, 0, 1).Format("2006-01-02")+"T00:00:00")

	a = v.follow(v.post(page+"/grants", form...)) // a reload
	already := "granted to alice already, at " + lots[0].Effective.Format("2 Jan 2006, 15:04 UTC") +
		". Nothing was granted now. The balance is "
	s.is.True(a.has("1,000 credits were " + already + "1,000."))
	s.is.True(!a.has("Granted to alice"))
	balance(1000)
	form[1] = "5"
	a = v.post(page+"/grants", form...)
	s.is.True(a.has("This form was sent before, for another grant or revocation, and that one stands."))
	balance(1000)
	form[len(form)-1] = onceField.FindStringSubmatch(a.body)[1]
	v.post(page+"/grants", form...)
	balance(1005)

	s.is.True(v.follow(v.post(page+"/grants", "credits", "7", "ref", "invoice-1", "once", "x")).has("invoice-1"))
	a = v.follow(v.post(page+"/grants", "credits", "7", "ref", "invoice-1", "once", "y"))
	s.is.True(a.has("7 credits were granted to alice already", "Nothing was granted now. The balance is 1,012."))
	balance(1012)
	a = v.post(page+"/grants", "credits", "8", "ref", "invoice-1")
	s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
	s.is.True(a.has(`id="f-ref-fault">This reference was used before`, `value="8"`, `value="invoice-1"`))
	balance(1012)
	// the lot that stands never expires
	a = v.post(page+"/grants", "credits", "7", "ref", "invoice-1", "expires", day.Format("2006-01-02"))
	s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
	s.is.True(a.has(`id="f-ref-fault">This reference was used before`))
	balance(1012)
}

// The message says what was granted, in whichever form the amount was entered.
func TestGrantSaysHowMuch(t *testing.T) {
	s := open(t)
	v := s.operator()
	alice := s.newcomer("alice")
	for _, c := range [][2]string{
		{"1", "1 credit. The balance is 1."},
		{"0002", "2 credits. The balance is 3."},
		{"1234567", "1,234,567 credits. The balance is 1,234,570."},
		{"1,000,000", "1,000,000 credits. The balance is 2,234,570."},
	} {
		a := v.post("users/"+string(alice.ID)+"/grants", "credits", c[0], "once", "console-"+c[0])
		s.is.True(v.follow(a).has("Granted to alice: " + c[1]))
	}
}

func TestGrantRefuses(t *testing.T) {
	s := open(t)
	v := s.operator()
	alice := s.newcomer("alice")
	page := "users/" + string(alice.ID) + "/grants"
	s.Grant(t, alice.ID, 1)
	long := make([]byte, 256)
	for i := range long {
		long[i] = 'a'
	}
	for want, form := range map[string][]string{
		`id="f-credits-fault">Enter a whole number of credits, from 1 to`: {"credits", "0"},
		`aria-describedby="f-credits-fault"`:                              {"credits", "ten"},
		`value="1,5"`:                                                     {"credits", "1,5"},
		`value="1,00"`:                                                    {"credits", "1,00"},
		`value="1000,000"`:                                                {"credits", "1000,000"},
		`value=",100"`:                                                    {"credits", ",100"},
		`value="-1"`:                                                      {"credits", "-1"},
		`id="f-credits-fault">With 9007199254740991 more credits the account`: {"credits", "9007199254740991"},
		`id="f-expires-fault">Enter a day that is not over, such as`: {"credits", "1", "expires",
			"2020-01-01"},
		`aria-describedby="f-expires-fault f-expires-hint"`: {"credits", "1", "expires", "tomorrow"},
		`id="f-expires-fault">Enter a day that is not over, such as 2`: {"credits", "1", "expires",
			"2999-01-01"},
		`id="f-ref-fault">A reference is at most 255 bytes of text.`: {"credits", "1", "ref", string(long)},
	} {
		a := v.post(page, form...)
		s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
		if !a.has(want) {
			t.Errorf("%q is not in\n%s", want, a.body)
		}
	}
	b, err := s.DB.Balance(t.Context(), alice.ID)
	s.is.NoErr(err)
	s.is.Equal(b.Credits, imagegen.Credits(1))
	s.is.Equal(v.post("users/usr_nobody/grants", "credits", "1").StatusCode, http.StatusNotFound)
}

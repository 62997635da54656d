package python

import "strings"

// unittestClaims are claims with the assertions of unittest. Each class gets the first two. The
// last ones have names that Python had until 3.12.
var unittestClaims = []pythonClaim{
	{"assertEqual", "self.assertEqual(VALUE, WRONG)", true},
	{"assertTrue", "self.assertTrue(VALUE < 0)", false},
	{"assertNotEqual", "self.assertNotEqual(VALUE, VALUE)", true},
	{"assertFalse", "self.assertFalse(VALUE > 0)", false},
	{"assertIn", "self.assertIn(VALUE, [WRONG])", true},
	{"assertNotIn", "self.assertNotIn(VALUE, [VALUE])", true},
	{"assertIs", "self.assertIs(VALUE, None)", true},
	{"assertIsNot", "self.assertIsNot(None, None, VALUE)", true},
	{"assertIsNone", "self.assertIsNone(VALUE)", true},
	{"assertIsNotNone", "self.assertIsNotNone(None, VALUE)", true},
	{"assertIsInstance", "self.assertIsInstance(VALUE, str)", true},
	{"assertNotIsInstance", "self.assertNotIsInstance(VALUE, int)", true},
	{"assertGreater", "self.assertGreater(-VALUE, 0)", true},
	{"assertGreaterEqual", "self.assertGreaterEqual(-VALUE, 0)", true},
	{"assertLess", "self.assertLess(VALUE, 0)", true},
	{"assertLessEqual", "self.assertLessEqual(VALUE, 0)", true},
	{"assertAlmostEqual", "self.assertAlmostEqual(VALUE, WRONG)", true},
	{"assertNotAlmostEqual", "self.assertNotAlmostEqual(VALUE, VALUE)", true},
	{"assertRegex", "self.assertRegex(str(VALUE), \"^WRONG$\")", true},
	{"assertNotRegex", "self.assertNotRegex(str(VALUE), \"^%d$\" % VALUE)", true},
	{"assertCountEqual", "self.assertCountEqual([VALUE], [WRONG])", true},
	{"assertSequenceEqual", "self.assertSequenceEqual([VALUE], [WRONG])", true},
	{"assertListEqual", "self.assertListEqual([VALUE], [WRONG])", true},
	{"assertTupleEqual", "self.assertTupleEqual((VALUE,), (WRONG,))", true},
	{"assertSetEqual", "self.assertSetEqual({VALUE}, {WRONG})", true},
	{"assertDictEqual", "self.assertDictEqual({1: VALUE}, {1: WRONG})", true},
	{"assertMultiLineEqual", "self.assertMultiLineEqual(str(VALUE), \"WRONG\")", true},
	{"assertRaises", "with self.assertRaises(TYPE(ValueError)):\n    int(\"7\")", true},
	{"assertRaises", "self.assertRaises(TYPE(ValueError), int, \"7\")", true},
	{"assertRaisesRegex", "with self.assertRaisesRegex(TYPE(ValueError), \"7\"):\n    int(\"7\")", true},
	{"assertRaisesRegex", "with self.assertRaisesRegex(ValueError, \"^%d$\" % VALUE):\n    raise ValueError(\"7\")", true},
	{"assertWarns", "with self.assertWarns(TYPE(UserWarning)):\n    int(\"7\")", true},
	{"assertWarnsRegex", "with self.assertWarnsRegex(TYPE(UserWarning), \"7\"):\n    int(\"7\")", true},
	{"assertLogs", "with self.assertLogs(\"l%d\" % VALUE):\n    int(\"7\")", true},
	{"assertNoLogs", "with self.assertNoLogs(\"l%d\" % VALUE):\n    __import__(\"logging\").getLogger(\"l%d\" % VALUE).error(\"7\")", true},
	{"assertDictContainsSubset", "self.assertDictContainsSubset({1: WRONG}, {1: VALUE})", true},
	{"fail", "self.fail(VALUE)", true},
	{subTest, "with self.subTest(value=VALUE):\n    self.assertEqual(VALUE, WRONG)", true},
	{"assertEquals", "self.assertEquals(VALUE, WRONG)", true},
	{"assertNotEquals", "self.assertNotEquals(VALUE, VALUE)", true},
	{"assert_", "self.assert_(VALUE < 0)", false},
	{"assertAlmostEquals", "self.assertAlmostEquals(VALUE, WRONG)", true},
	{"assertRegexpMatches", "self.assertRegexpMatches(str(VALUE), \"^WRONG$\")", true},
	{"assertNotRegexpMatches", "self.assertNotRegexpMatches(str(VALUE), \"^%d$\" % VALUE)", true},
	{"assertRaisesRegexp", "with self.assertRaisesRegexp(TYPE(ValueError), \"7\"):\n    int(\"7\")", true},
}

// subTest is the use of a claim for unittest only: its failure does not end the test, and versions
// of pytest treat that differently.
const subTest = "subTest"

// djangoClaims are claims with the assertions of Django's test cases that need no view.
var djangoClaims = []pythonClaim{
	{"assertContains", "self.assertContains(" + djangoHTTP + "HttpResponse(\"7\"), str(VALUE))", true},
	{"assertNotContains", "self.assertNotContains(" + djangoHTTP + "HttpResponse(str(VALUE)), str(VALUE))", true},
	{"assertRedirects", "self.assertRedirects(" + djangoHTTP + "HttpResponse(str(VALUE)), \"/WRONG\")", false},
	{"assertQuerysetEqual", "self.assertQuerysetEqual([VALUE], [WRONG])", true},
	{"assertQuerySetEqual", "self.assertQuerySetEqual([VALUE], [WRONG])", true},
	{"assertNumQueries", "with self.assertNumQueries(VALUE):\n    int(\"7\")", true},
	{"assertTemplateUsed", "with self.assertTemplateUsed(\"t%d\" % VALUE):\n    int(\"7\")", false},
	{"assertTemplateNotUsed", "with self.assertTemplateNotUsed(\"t%d\" % VALUE):\n    " + djangoTemplate, true},
	{"assertFormError", "form = " + djangoForms + "Form({})\n" + strings.ReplaceAll(djangoPage, "formset", "form") +
		"self.assertFormError(*((form,) if __import__(\"django\").VERSION >= (4, 1) else (page, \"f\")), field=None, errors=[str(VALUE)])", true},
	{"assertFormSetError", djangoFormSet + "self.assertFormSetError(formset, None, None, [str(VALUE)])", false},
	{"assertFormsetError", djangoFormSet + djangoPage + "self.assertFormsetError(*((formset, None) if __import__(\"django\").VERSION >= (4, 1) else (page, \"f\", None)), " +
		"field=None, errors=[str(VALUE)])", false},
	{"assertFieldOutput", "self.assertFieldOutput(" + djangoForms + "IntegerField, {str(VALUE): WRONG}, {})", true},
	{"assertHTMLEqual", "self.assertHTMLEqual(\"<p>%d</p>\" % VALUE, \"<p>WRONG</p>\")", true},
	{"assertHTMLNotEqual", "self.assertHTMLNotEqual(\"<p>%d</p>\" % VALUE, \"<p>%d</p>\" % VALUE)", true},
	{"assertInHTML", "self.assertInHTML(\"<b>%d</b>\" % VALUE, \"<p></p>\")", true},
	{"assertNotInHTML", "self.assertNotInHTML(\"<b>%d</b>\" % VALUE, \"<b>%d</b>\" % VALUE)", true},
	{"assertJSONEqual", "self.assertJSONEqual(str(VALUE), \"WRONG\")", true},
	{"assertJSONNotEqual", "self.assertJSONNotEqual(str(VALUE), str(VALUE))", true},
	{"assertXMLEqual", "self.assertXMLEqual(\"<a>%d</a>\" % VALUE, \"<a>WRONG</a>\")", true},
	{"assertXMLNotEqual", "self.assertXMLNotEqual(\"<a>%d</a>\" % VALUE, \"<a>%d</a>\" % VALUE)", true},
	{"assertRaisesMessage", "with self.assertRaisesMessage(ValueError, str(VALUE)):\n    raise ValueError(\"7\")", true},
	{"assertRaisesMessage", "with self.assertRaisesMessage(TYPE(ValueError), \"7\"):\n    int(\"7\")", true},
	{"assertWarnsMessage", "with self.assertWarnsMessage(TYPE(UserWarning), \"7\"):\n    int(\"7\")", true},
	{"assertURLEqual", "self.assertURLEqual(\"/%d\" % VALUE, \"/WRONG\")", true},
}

const (
	djangoHTTP     = `__import__("django.http").http.`
	djangoForms    = `__import__("django.forms").forms.`
	djangoFormSet  = "formset = " + djangoForms + "formset_factory(" + djangoForms + "Form)({\"form-TOTAL_FORMS\": \"1\", \"form-INITIAL_FORMS\": \"0\"})\n"
	djangoPage     = "page = __import__(\"types\").SimpleNamespace(context=[{\"f\": formset}], templates=[])\n"
	djangoTemplate = `__import__("django.template").template.Template("7", name="t%d" % VALUE, engine=__import__("django.template").template.Engine())` +
		`.render(__import__("django.template").template.Context())`
)

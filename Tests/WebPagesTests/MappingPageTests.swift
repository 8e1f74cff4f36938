import ControlAPI
import ControlServer
import ControlTestSupport
import Foundation
import LadeTypes
import TestSupport
import Testing

@testable import WebPages

@Suite("The mapping editor")
struct MappingPageTests {
  /// The address of the editor for a file that has been sent.
  private func editor(_ browser: Browser, _ site: Site) async throws -> String {
    let answer = try await browser.send("/upload", form: ["name": "people.csv", "size": "2"])
    let text = String(decoding: answer.body, as: UTF8.self)
    let id = try #require(text.firstMatch(of: /"id":"(\d+)"/)?.1)
    _ = try await browser.send("/upload/\(id)/part?offset=0", body: "a\n")
    return "/upload/\(id)/map"
  }

  @Test("an entity is chosen first, and columns of nearly the same name are chosen for its properties")
  func suggestions() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let editor = try await editor(browser, site)
      let choice = try await browser.get(editor).text
      #expect(choice.contains("value=\"main/Stop\"") && !choice.contains("id=\"preview\""))
      let page = try await browser.get(editor + "?into=main/Stop").text
      for words in [
        "<option value=\"Name\" selected=\"selected\">Name</option>", "name=\"height:decimal_separator\"",
        "name=\"route:create\"", "Required, and without a column: <bdi>number</bdi>",
        "Columns that nothing takes: <bdi>Höhe</bdi>, <bdi>left over</bdi>", "&lt;i&gt;Ada&lt;/i&gt;", "it is bad",
      ] {
        #expect(page.contains(words), "\(words)")
      }
      #expect(!page.contains("<i>Ada"), "values are text")
      #expect(!page.contains("name=\"name:decimal_separator\""), "texts have no decimals")
      let test = try #require(site.backend.tests.last)
      #expect(test.options == ["properties": .map(["name": .string("Name")])])
      #expect(test.rows == MappingPage.shownRows)
      #expect(site.backend.submissions.isEmpty)
    }
  }

  @Test("the address is what the form says, and the recipe says it, as text and as a file")
  func address() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let editor = try await editor(browser, site)
      var query = QueryString()
      for (name, value) in [
        ("into", "main/Stop"), ("sent", "1"), ("mode", "insert"), ("nulls", "NA, \"a,b\", \"\""), ("skip_lines", "2"),
        ("trim", "true"), ("name:column", ""), ("height:column", "Höhe"), ("height:decimal_separator", ","),
        ("height:values", "none=0"), ("number:constant", "7"), ("route:column", "left over"), ("route:key", "a, b"),
      ] {
        query[name] = value
      }
      let page = try await browser.get("\(editor)?\(query.text)").text
      let test = try #require(site.backend.tests.last)
      #expect(test.mode == .insert)
      #expect(
        test.options == [
          "nulls": .list([.string("NA"), .string("a,b"), .string("")]), "skip_lines": .int(2), "trim": .bool(true),
          "properties": .map([
            "height": .map([
              "column": .string("Höhe"), "decimal_separator": .string(","), "values": .map(["none": .string("0")]),
            ]), "number": .map(["constant": .string("7")]),
            "route": .map(["column": .string("left over"), "key": .list([.string("a"), .string("b")])]),
          ]),
        ])
      #expect(site.backend.saved.columnRequests.last?.options == ["skip_lines": .int(2)], "only how it is read")
      let link = try #require(page.firstMatch(of: /href="(\/upload\/\d+\/recipe\.yaml[^"]*)"/)?.1)
      let file = try await browser.get(String(link).replacing("&amp;", with: "&"))
      #expect(file.status == 200 && file.headers["content-disposition"] == "attachment; filename=\"recipe.yaml\"")
      for line in ["recipes:", "  new:", "    store: main", "    mode: insert", "    skip_lines: 2", "      number:"] {
        #expect(file.text.split(separator: "\n").contains(line[...]), "\(line) of \(file.text)")
      }
    }
  }

  @Test("a recipe that is there fills the form in, and what the form can't say is named")
  func existing() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let editor = try await editor(browser, site)
      let page = try await browser.get(editor + "?recipe=people").text
      #expect(page.contains("<option value=\"Höhe\" selected=\"selected\">"))
      #expect(page.contains("value=\"NA, &quot;a,b&quot;\""))
      #expect(page.contains("leaves out: <bdi>lane</bdi>"))
      #expect(page.contains("<option value=\"Full Name\" selected"), "a column that the file doesn't have stays chosen")
      #expect(try await browser.get(editor + "?recipe=nothing").status == 404)
    }
  }

  @Test("a recipe is saved by who is signed in, and replaced only by a mapping that began with it")
  func saving() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let editor = try await editor(browser, site)
      let form = ["into": "main/Stop", "sent": "1", "name:column": "Name", "name": "mine"]
      let answer = try await browser.send(editor, form: form)
      #expect(answer.status == 303 && answer.headers["location"]?.hasSuffix("?recipe=mine") == true)
      #expect(
        site.backend.saved.drafts["mine"]
          == RecipeDraft(store: "main", entity: "Stop", options: ["properties": .map(["name": .string("Name")])]))
      site.backend.saved.set(RecipeDraft(store: "main", entity: "Stop"), as: "people2")
      for (name, status) in [("people", 409), ("", 422)] {
        let refused = try await browser.send(editor, form: form.merging(["name": name]) { $1 })
        #expect(refused.status == status, "\(name)")
        #expect(refused.text.contains("role=\"alert\"") && refused.text.contains("value=\"Name\" selected"))
      }
      let changed = form.merging(["recipe": "mine", "nulls": "NA"]) { $1 }
      #expect(try await browser.send(editor, form: changed).status == 303)
      #expect(site.backend.saved.drafts["mine"]?.options["nulls"] == .list([.string("NA")]))

      let other = try await site.signedIn(as: Peer(pid: 1, uid: 4712, gid: 4712))
      let others = try await self.editor(other, site)
      #expect(try await other.send(others, form: form.merging(["name": "theirs"]) { $1 }).status == 403)
      #expect(try await other.get(editor).status == 404, "another's file")
      #expect(site.backend.saved.drafts["theirs"] == nil)
    }
  }

  @Test("nothing is saved in read-only mode, nor where the configuration doesn't let it be, nor from another site")
  func refused() async throws {
    try await Site.with { site async throws in
      site.backend.saved.isSaving = false
      let browser = try await site.signedIn()
      let editor = try await editor(browser, site)
      let page = try await browser.get(editor + "?into=main/Stop").text
      #expect(!page.contains("Save it") && page.contains("save_recipes: true"))
      let foreign = try await browser.post(editor, ["Sec-Fetch-Site": "cross-site"])
      #expect(foreign.status == 403)
      for uri in ["?into=x", "?colour=red", "?name:colour=red", "?into=main/Nothing&sent=1", "?into=a&into=b"] {
        let answer = try await browser.get(editor + uri)
        #expect(answer.status == 400 || answer.text.contains("role=\"alert\""), "\(uri)")
      }
    }
    try await Site.with(settings: WebSettings(isReadOnly: true)) { site async throws in
      let browser = try await site.signedIn()
      #expect(try await browser.send("/upload/1/map", form: ["name": "mine"]).status == 403)
    }
  }

  @Test("what a saved recipe says and has no field is named and kept, before the first preview and after it")
  func kept() async throws {
    try await Site.with { site async throws in
      let set = OptionValue.map(["of": .list([.map(["a": .string("x")])])])
      site.backend.saved.set(
        RecipeDraft(
          store: "main", entity: "Stop",
          options: [
            "set": set, "nulls": .list([.string("NA")]),
            "properties": .map(["height": .map(["column": .string("Höhe"), "later": .map(["k": .int(1)])])]),
          ]), as: "mine")
      let browser = try await site.signedIn()
      let editor = try await editor(browser, site)
      let first = try await browser.get(editor + "?recipe=mine").text
      let names = "keeps it: <bdi>properties.height.later</bdi>, <bdi>set</bdi>"
      #expect(first.contains(names), "\(first)")
      var query = QueryString()
      for (name, value) in [
        ("into", "main/Stop"), ("recipe", "mine"), ("name", "mine"), ("sent", "1"), ("height:column", "left over"),
      ] { query[name] = value }
      let again = try await browser.get("\(editor)?\(query.text)").text
      #expect(again.contains(names))
      let expected: [String: OptionValue] = [
        "set": set,
        "properties": .map(["height": .map(["column": .string("left over"), "later": .map(["k": .int(1)])])]),
      ]
      #expect(site.backend.tests.last?.options == expected, "what was taken out stays out")
      #expect(try await browser.send(editor, body: query.text).status == 303)
      #expect(site.backend.saved.drafts["mine"]?.options == expected)

      // Somebody else removes it while the form is open.
      site.backend.saved.set(nil, as: "mine")
      let removed = try await browser.get("\(editor)?\(query.text)")
      #expect(removed.status == 200 && removed.text.contains("There is no recipe &#39;mine&#39;"), "\(removed.text)")
      #expect(removed.text.contains("<option value=\"left over\" selected=\"selected\">"))
    }
  }

  @Test("a bad option of reading keeps the form as it was filled in, and says which field is bad")
  func badReading() async throws {
    try await Site.with { site async throws in
      let browser = try await site.signedIn()
      let editor = try await editor(browser, site)
      var query = QueryString()
      for (name, value) in [
        ("into", "main/Stop"), ("sent", "1"), ("delimiter", ";;"), ("name", "mine"), ("name:column", "Full Name"),
        ("nulls", "NA"),
      ] { query[name] = value }
      let page = try await browser.get("\(editor)?\(query.text)")
      #expect(page.status == 200)
      for words in [
        "name=\"delimiter\" aria-invalid=\"true\" value=\";;\"", "Look at the field <bdi>Delimiter</bdi>",
        "it must be one character", "<option value=\"Full Name\" selected=\"selected\">", "name=\"nulls\" value=\"NA\"",
        "id=\"preview\"", "name=\"name\" value=\"mine\"",
      ] { #expect(page.text.contains(words), "\(words): \(page.text)") }
      let refused = try await browser.send(editor, body: query.text)
      #expect(refused.status == 422 && refused.text.contains("aria-invalid") && site.backend.saved.drafts.isEmpty)
    }
  }

  @Test("a file is imported by its mapping alone, by a job of who has sent it")
  func imported() async throws {
    try await Site.with { site async throws in
      site.backend.saved.isSaving = false
      let browser = try await site.signedIn()
      let editor = try await editor(browser, site)
      let page = try await browser.get(editor + "?into=main/Stop").text
      #expect(page.contains("Import it with this mapping") && page.contains("formaction=\"\(editor)/import\""))
      let form = ["into": "main/Stop", "sent": "1", "mode": "insert", "name:column": "Name", "nulls": "NA"]
      #expect(try await browser.send(editor + "/import", form: form).status == 303)
      let submission = try #require(site.backend.submissions.last)
      #expect(submission.source?.hasPrefix("upload:") == true && submission.recipe == nil)
      #expect((submission.store, submission.entity, submission.mode) == ("main", "Stop", .insert))
      #expect(
        submission.options == [
          "nulls": .list([.string("NA")]), "properties": .map(["name": .string("Name")]),
        ])
      #expect(site.backend.peers.last == Site.peer)
    }
  }

  @Test("the editor's note says what can be done: by whom, and on which pages")
  func notes() async throws {
    try await Site.with { site async throws in
      let other = try await site.signedIn(as: Peer(pid: 1, uid: 4712, gid: 4712))
      let editor = try await editor(other, site)
      let page = try await other.get(editor + "?into=main/Stop").text
      #expect(page.contains("Only operators save recipes") && !page.contains("Save it"))
      #expect(page.contains("Import it with this mapping"))
    }
    let backend = MemoryBackend()
    let upload = try await backend.beginUpload("a.csv", size: 2, modified: 0, by: Site.peer)
    _ = try await backend.append(Array("a\n".utf8), at: 0, toUpload: upload.id, by: Site.peer)
    try await Site.with(backend, settings: WebSettings(isReadOnly: true)) { site async throws in
      let browser = try await site.signedIn()
      let page = try await browser.get("/upload/\(upload.id)/map?into=main/Stop").text
      #expect(page.contains("The pages are read-only, so nothing is saved or imported here"))
      for words in ["Save it", "Import it", "operators can save it here"] { #expect(!page.contains(words), "\(words)") }
      #expect(try await browser.send("/upload/\(upload.id)/map/import", form: ["into": "main/Stop"]).status == 403)
    }
  }

  @Test("a list in one line is read as it was written, whatever is in its items")
  func lists() {
    for items in [[], ["a"], ["a", "b"], [""], ["", ""], ["a,b", " c ", "\"d\"", "e=f", "é, \"\"", ","]] {
      #expect(FieldList.items(of: FieldList.text(of: items.map { [$0] })) == items, "\(items)")
    }
    for pairs in [
      [["m", "male"], ["f", "female"]], [["a=b", "c,d"], ["\"", " "]], [["", "nothing"], ["x", ""]],
    ] {
      #expect(FieldList.items(of: FieldList.text(of: pairs), splitAt: "=") == pairs, "\(pairs)")
    }
    #expect(FieldList.items(of: "NA,-, n/a ") == ["NA", "-", "n/a"])
    #expect(FieldList.items(of: "  ") == [])
  }
}

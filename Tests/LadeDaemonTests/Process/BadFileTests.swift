import ControlAPI
import Foundation
import Testing

@Suite("A file that can't be imported, or not all of it", .startsDaemons)
struct BadFileTests {
  /// A file, and what is to become of it.
  struct BadFile: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let name: String
    let content: Data
    var recipe = "members"
    var state = JobState.discarded
    /// What the job's reason has to say: what, where, what to do.
    var says: [String] = []
    var inserted: Int64 = 0
    /// Lines and codes of the reject file.
    var rejects: [Members.Reject] = []

    init(
      _ description: String, _ name: String, _ content: Data, recipe: String = "members",
      _ state: JobState = .discarded, says: [String] = [], inserted: Int64 = 0, rejects: [(Int, String)] = []
    ) {
      testDescription = description
      self.name = name
      self.content = content
      self.recipe = recipe
      self.state = state
      self.says = says
      self.inserted = inserted
      self.rejects = rejects.map { Members.Reject(line: $0, fault: $1) }
    }

    init(
      _ description: String, _ name: String, _ text: String, recipe: String = "members",
      _ state: JobState = .discarded, says: [String] = [], inserted: Int64 = 0, rejects: [(Int, String)] = []
    ) {
      self.init(
        description, name, Data(text.utf8), recipe: recipe, state, says: says, inserted: inserted, rejects: rejects)
    }
  }

  static let files = [
    BadFile("an empty file", "empty.csv", "", says: ["the file is empty"]),
    BadFile("a header only", "header.csv", "number,name\n", .completed, says: ["the file has no records"]),
    BadFile(
      "a binary file", "program.csv", Data([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]) + Data(repeating: 0, count: 500),
      says: ["the file isn't text: it looks like a program (ELF) (byte 0)", "export it as CSV or JSON"]),
    BadFile(
      "a row that is too short", "short.csv", "number,name,note\n1,Ada,x\n2,Bob\n3,Cy,z\n", .completed, inserted: 2,
      rejects: [(3, "too_few_fields")]),
    BadFile(
      "a row that is too long", "long.csv", "number,name\n1,Ada\n2,Bob,more,and more\n3,Cy\n", .completed,
      inserted: 2, rejects: [(3, "too_many_fields")]),
    BadFile(
      "a quote that is never closed", "quote.csv", "number,name\n1,Ada\n2,\"Bob\n3,Cy\n", .completed, inserted: 2,
      rejects: [(3, "unterminated_quote")]),
    BadFile(
      "a row in another encoding", "latin.csv",
      Data("number,name\n1,Ada\n2,Andr".utf8) + [0xe9] + Data("\n3,Cy\n".utf8),
      .completed, inserted: 2, rejects: [(3, "invalid_utf8")]),
    BadFile(
      "more rejects than the recipe allows", "rejects.csv", "number,name,age\n1,A,x\n2,B,30\n3,C,y\n4,D,z\n",
      recipe: "strict", says: ["3 records were rejected, more than the limit of 2", "The first: line 2", "“x”"],
      inserted: 1,
      rejects: [(2, "not_an_integer"), (4, "not_an_integer"), (5, "not_an_integer")]),
    BadFile(
      "nothing but rejects", "nothing.csv", "number,name,age\n1,A,x\n2,B,y\n",
      says: [
        "none of the file's records was imported: all 2 were rejected", "The first: line 2", "reject_share: 100%",
      ],
      rejects: [(2, "not_an_integer"), (3, "not_an_integer")]),
    BadFile(
      "nothing but rejects, where the recipe accepts that", "accepted.csv", "number,name,age\n1,A,x\n",
      recipe: "lenient", .completed, rejects: [(2, "not_an_integer")]),
    BadFile(
      "columns that the entity doesn't have", "columns.csv", "number,colour,name,shape\n1,red,Ada,round\n", .completed,
      says: ["ignored column(s) that Member doesn't have: colour, shape"], inserted: 1),
    BadFile(
      "no column that the entity has", "other.csv", "colour,shape\nred,round\n",
      says: ["none of the columns colour, shape is one of Member's", "number", "mappedKeyName"]),
    BadFile(
      "no column for the key that upsert needs", "keyless.csv", "name\nAda\n",
      says: ["upsert needs a column", "number", "the columns are name"]),
    BadFile(
      "two columns of one name", "twice.csv", "number,name,name\n1,Ada,Ada\n",
      says: ["two columns are named “name”", "rename one"]),
    BadFile(
      "JSON that is malformed in the middle", "middle.json",
      "[{\"number\": 1, \"name\": \"Ada\"},\n{\"number\": 2, \"name\": \"Bob\"},\n{\"number\": 3, \"name\": oops}]",
      says: ["line 3, column ", "The 2 records before it are imported: correct the file and submit it again"],
      inserted: 2),
    BadFile(
      "JSON that ends too early", "end.json", "[{\"number\": 1, \"name\": \"Ada\"},\n{\"number\": 2, \"na",
      says: ["line 2, column ", "the text ends", "The 1 record before it is imported"], inserted: 1),
    BadFile(
      "NDJSON with a malformed line", "lines.ndjson",
      "{\"number\": 1, \"name\": \"Ada\"}\n{\"number\": oops}\n{\"number\": 3, \"name\": \"Cy\"}\n", .completed,
      inserted: 2, rejects: [(2, "malformed_json")]),
  ]

  private static let recipes = """
      members: { store: main, entity: Member }
      strict: { store: main, entity: Member, reject_limit: 2 }
      lenient: { store: main, entity: Member, reject_share: 100% }
    """

  @Test("says what, where and what to do, is kept, and the daemon goes on", arguments: files)
  func badFile(_ bad: BadFile) async throws {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    let daemon = try await folder.start()
    let job = try await folder.imported(bad.content, as: bad.name, into: bad.recipe)

    #expect(job.state == bad.state)
    let sheet = try await folder.ladectl("show", "\(job.id)").text
    for words in bad.says {
      #expect(job.reason?.contains(words) == true, "\(job.reason ?? "")")
      #expect(sheet.contains(words))
    }
    #expect(job.progress.inserted == bad.inserted)
    #expect(try await folder.count("Member") == Int(bad.inserted))

    // The file is where it belongs, as it was; with the reason beside it if it failed.
    let kept = "\(job.id)-\(bad.name)"
    if bad.state == .completed {
      #expect(try folder.data("spool/done/" + kept) == bad.content)
      #expect(try folder.names(in: "spool/corrupt") == [])
    } else {
      #expect(try folder.data("spool/corrupt/" + kept) == bad.content)
      let reason = try folder.text("spool/corrupt/\(kept).reason")
      for words in bad.says { #expect(reason.contains(words), "\(reason)") }
    }
    #expect(try folder.names(in: "spool/active") == [])
    try checkRejects(of: job, bad)
    let run = try await folder.ladectl("rejects", "\(job.id)", "--json")
    let report = try WireFormat.decode(RejectReport.self, from: Data(run.text.utf8))
    #expect(report.count == Int64(bad.rejects.count), "\(run.error)")
    #expect(Set(report.groups.map(\.code)) == Set(bad.rejects.map(\.fault)))

    let next = try await folder.imported("number,name\n77,Next\n", as: "next.csv", into: "members")
    #expect((next.state, next.progress.inserted) == (.completed, 1))
    try await daemon.stop()
  }

  private func checkRejects(of job: Job, _ bad: BadFile) throws {
    #expect(job.progress.rejected == Int64(bad.rejects.count))
    guard !bad.rejects.isEmpty else {
      #expect(job.rejectsFile == nil)
      return
    }
    let file = try Data(contentsOf: URL(fileURLWithPath: try #require(job.rejectsFile)))
    let lines = String(decoding: bad.content, as: UTF8.self).split(separator: "\n").map(String.init)
    if bad.name.hasSuffix("json") {
      let text = String(decoding: file, as: UTF8.self)
      for reject in bad.rejects {
        #expect(text.contains("\"line\":\(reject.line),") && text.contains("\"code\":\"\(reject.fault)\""), "\(text)")
      }
    } else {
      let rows = PlainCSV.rows(file)
      #expect(
        rows.first == ["lade_line", "lade_column", "lade_code", "lade_message"]
          + lines[0].split(separator: ",").map(String.init))
      #expect(rows.count == bad.rejects.count + 1)
      for (row, reject) in zip(rows.dropFirst(), bad.rejects) {
        #expect(row[0] == "\(reject.line)" && row[2] == reject.fault, "\(row)")
        #expect(row.dropFirst(4).joined(separator: ",") == lines[reject.line - 1], "the record as it stood")
      }
    }
  }
}

import ControlAPI
import ControlServer
import LadeTypes

extension PageRoutes {
  /// A file that was sent: how it begins, and what a recipe would make of it.
  func upload(_ visit: Visit) async throws -> PageAnswer {
    let query = try visit.query()
    try query.refuseNames(otherThan: ["recipe"])
    let upload = try await upload(visit.number("id"), of: visit.peer)
    let recipe = query["recipe"].flatMap { $0.isEmpty ? nil : $0 }
    var trial: UploadPage.Trial?
    if let recipe, upload.isWhole {
      do {
        trial = .done(
          try await backend.test(RecipeTest(source: upload.source, recipe: recipe), by: visit.peer),
          try await backend.diff(ModelDiffRequest(source: upload.source, recipe: recipe), by: visit.peer))
      } catch let error as ControlError {
        trial = .refused(error.problem)
      }
    }
    let beginning = try await backend.beginning(
      ofUpload: upload.id, atMost: UploadPage.shownBytes, by: visit.peer)
    return .page(
      UploadPage(
        upload: upload, beginning: beginning, recipes: backend.recipes().map(\.name), recipe: recipe, trial: trial,
        isReadOnly: check.settings.isReadOnly
      ).page)
  }

  /// Makes the job that imports a file.
  func importUpload(_ visit: Visit) async throws -> PageAnswer {
    let form = try await visit.form()
    try form.refuseNames(otherThan: ["recipe"])
    guard let recipe = form["recipe"], !recipe.isEmpty else { throw QueryError.missing(name: "recipe") }
    let upload = try await upload(visit.number("id"), of: visit.peer)
    log("import upload \(upload.id), \(upload.name), by \(recipe)", visit)
    let job = try await claims.holding(upload.id, of: visit.peer) {
      try await backend.submit(JobSubmission(source: upload.source, recipe: recipe), by: visit.peer)
    }
    return .redirect(.job(job.id))
  }

  func upload(_ id: Int64, of peer: Peer) async throws -> Upload {
    guard let upload = try await backend.uploads(by: peer).first(where: { $0.id == id }) else {
      throw ControlError.noSuchUpload(id)
    }
    return upload
  }
}

/// A file that was sent: its first lines, the choice of a recipe, and what that would make of it.
struct UploadPage {
  /// How much of the file's beginning is looked at.
  static let shownBytes = 4096
  private static let shownLines = 12

  /// What came of trying the file.
  enum Trial: Sendable {
    case done(RecipeTestResult, ModelDiff)
    case refused(Problem)
  }

  let upload: Upload
  let beginning: [UInt8]
  let recipes: [String]
  /// The one that was chosen.
  let recipe: String?
  /// Nil before a recipe was chosen.
  let trial: Trial?
  let isReadOnly: Bool

  var page: Page {
    Page("Upload \(upload.name)", .upload) {
      HTML.element("dl") {
        HTML.fact("File", HTML.name(upload.name))
        HTML.fact("Size", HTML(Quantity.bytes(Double(upload.size))))
        HTML.fact("Arrived", HTML(upload.isWhole ? "all" : Quantity.bytes(Double(upload.received))))
      }
      HTML.element("section", .label("Beginning")) { firstLines }
      if upload.isWhole {
        HTML.element("section", .label("Recipe")) { choice }
        if let trial { HTML.element("section", .id("trial"), .label("Trial")) { outcome(trial) } }
      } else {
        HTML.element("p", .style("problem")) {
          "The rest hasn't arrived. "
          HTML.element("a", .link(.uploads)) { "Choose the same file again" }
          " to go on."
        }
      }
    }
  }

  @HTMLBuilder
  private var firstLines: HTML {
    HTML.element("h2") { "How it begins" }
    if let text {
      HTML.element(
        "pre", .other("tabindex", "0"), .other("role", "group"), .other("dir", "auto"), .label("The first lines")
      ) { HTML(text) }
    } else {
      HTML.element("p") { "It isn't text: a workbook, an archive, or something else that a recipe may read." }
    }
  }

  /// The first lines, if they are text. The last character may have been cut.
  private var text: String? {
    guard !beginning.contains(0) else { return nil }
    for cut in 0..<(beginning.count == Self.shownBytes ? 4 : 1) {
      guard let text = String(validating: beginning.dropLast(cut), as: UTF8.self) else { continue }
      return text.split(separator: "\n", omittingEmptySubsequences: false).prefix(Self.shownLines)
        .joined(separator: "\n")
    }
    return nil
  }

  private var choice: HTML {
    HTML.element("form", .other("method", "get"), .action(.upload(upload.id))) {
      HTML.element("label", .other("for", "recipe")) { "Recipe" }
      HTML.element("select", .id("recipe"), .name("recipe")) {
        for name in recipes {
          HTML.element("option", .value(name), name == recipe ? .other("selected", "selected") : nil) { name }
        }
      }
      HTML.element("button", .other("type", "submit")) { "Try it" }
      HTML.element("button", .other("type", "submit"), .formAction(.mapUpload(upload.id))) { "Change its mapping" }
      HTML.element("p", .style("note")) {
        "Nothing is written when it is tried. Does no recipe fit? "
        HTML.element("a", .link(.mapUpload(upload.id))) { "Map the columns" }
        "."
      }
    }
  }

  @HTMLBuilder
  private func outcome(_ trial: Trial) -> HTML {
    switch trial {
    case .refused(let problem):
      HTML.element("p", .other("role", "alert"), .style("problem")) { HTML.name(problem.detail) }
      if let hint = problem.hint { HTML.element("p") { HTML.name(hint) } }
    case .done(let result, let difference):
      HTML.element("h2") {
        "What \(recipe ?? "") would do with "
        result.isWhole ? "it" : "its beginning"
      }
      if let failure = result.failure {
        HTML.element("p", .other("role", "alert"), .style("problem")) { HTML.name(failure) }
      }
      Self.figures(result)
      for note in result.notes { HTML.element("p") { HTML.name(note) } }
      Self.rejects(result.rejects)
      TrialExamples(examples: result.examples).html
      changes(difference)
      if !isReadOnly, result.failure == nil, let recipe { form(recipe) }
    }
  }

  static func figures(_ result: RecipeTestResult) -> HTML {
    HTML.element("dl", .style("figures")) {
      HTML.fact("Into", HTML.name("\(result.entity) of \(result.store)"))
      HTML.fact("Mode", result.mode.map { HTML($0.rawValue) })
      HTML.fact("Records", HTML.count(result.progress.records))
      HTML.fact("Inserted", HTML.count(result.progress.inserted))
      HTML.fact("Updated", HTML.count(result.progress.updated))
      HTML.fact("Unchanged", HTML.count(result.progress.unchanged))
      HTML.fact("Skipped", HTML.count(result.progress.skipped))
      HTML.fact("Rejected", HTML.count(result.progress.rejected))
    }
  }

  @HTMLBuilder
  static func rejects(_ report: RejectReport) -> HTML {
    if !report.groups.isEmpty {
      HTML.table(
        "Records that would be rejected",
        columns: [HTML.column("Reason"), HTML.column("Column"), HTML.numberColumn("Records"), HTML.column("First")],
        rows: report.groups.map { group in
          HTML.element("tr") {
            HTML.element("th", .other("scope", "row")) { HTML.name(group.code) }
            HTML.element("td") { group.column.isEmpty ? HTML("the whole record") : HTML.name(group.column) }
            HTML.numberCell(group.count)
            HTML.element("td") {
              if let first = group.examples.first {
                "line \(first.line): "
                HTML.name(first.message)
                " "
                HTML.element("code") { HTML.name(first.record) }
              }
            }
          }
        })
    }
  }

  @HTMLBuilder
  private func changes(_ difference: ModelDiff) -> HTML {
    if !difference.changes.isEmpty {
      HTML.table(
        "Where it doesn't fit the model",
        columns: ["Column", "Attribute", "Type", "Would need", "Example", "The recipe"].map(HTML.column),
        rows: difference.changes.map { change in
          HTML.element("tr") {
            HTML.element("th", .other("scope", "row")) { HTML.name(change.column ?? change.file ?? change.subject) }
            HTML.element("td") { HTML.name(change.attribute ?? "–") }
            HTML.element("td") { change.type ?? "none" }
            HTML.element("td") { change.newType ?? "–" }
            HTML.element("td") { HTML.name(change.example ?? "") }
            HTML.element("td") { HTML.command(change.contract) }
          }
        })
    }
  }

  private func form(_ recipe: String) -> HTML {
    HTML.element("form", .other("method", "post"), .action(.importUpload(upload.id)), .style("buttons")) {
      HTML.void("input", .other("type", "hidden"), .name("recipe"), .value(recipe))
      HTML.element("button", .other("type", "submit"), .style("main")) { "Import it by \(recipe)" }
      HTML.button("Leave it", .uploads)
    }
  }
}

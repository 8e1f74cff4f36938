import ControlAPI
import ControlServer
import Hummingbird
import LadeTypes

extension PageRoutes {
  /// Changing an object, making one, and deleting one.
  func addDataEditPages(to router: Router<ControlContext>) {
    page(router, "/data/{store}/{entity}/new") { visit in .page(try await editPage(visit, number: nil).page) }
    change(router, "/data/{store}/{entity}/new") { try await edit($0, number: nil) }
    page(router, "/data/{store}/{entity}/{number}/edit") { visit in
      .page(try await editPage(visit, number: visit.number("number")).page)
    }
    change(router, "/data/{store}/{entity}/{number}/edit") { try await edit($0, number: $0.number("number")) }
    page(router, "/data/{store}/{entity}/{number}/delete") { visit in .page(try await deletePage(visit).page) }
    change(router, "/data/{store}/{entity}/{number}/delete") { try await delete($0) }
  }

  private func editPage(_ visit: Visit, number: Int64?) async throws -> DataEditPage {
    let object = try await backend.editable(
      number, of: visit.name("entity"), in: visit.name("store"), by: visit.peer)
    return DataEditPage(object: object, isReadOnly: check.settings.isReadOnly)
  }

  private func edit(_ visit: Visit, number: Int64?) async throws -> PageAnswer {
    let form = try DataEditForm(parsing: String(decoding: try await visit.body(), as: UTF8.self))
    var shown = try await editPage(visit, number: number)
    shown.form = form
    let edit = form.edit(of: shown.object)
    // What was shown must not come back with the version of now: saving it then would undo what somebody else has changed.
    let isStale = number != nil && form.version != shown.object.version
    do {
      if edit.isEmpty {
        if isStale, form.action == .save { return .redirect(link(to: shown.object)) }
        if isStale { shown.form = nil }
        shown.outcome = .nothing
        return .page(shown.page)
      }
      let checked = try await backend.check(edit, of: shown.object.entity, by: visit.peer)
      shown.outcome = checked.isStale ? .conflict : .checked(checked)
      if checked.isStale { return .page(shown.page, .conflict) }
      if !checked.faults.isEmpty { return .page(shown.page, .init(code: 422)) }
      if form.action == .check { return .page(shown.page) }
      log("edit \(name(of: shown.object))", visit)
      let job = try await ended(edit.submission(entity: shown.object.entity), by: visit.peer)
      switch job.state {
      case .completed where number == nil: return .redirect(newest(of: shown.object))
      case .completed: return .redirect(link(to: shown.object))
      case .discarded where job.failureCode == "edit_conflict":
        // It has changed between the check and the job.
        shown = try await editPage(visit, number: number)
        (shown.form, shown.outcome) = (form, .conflict)
        return .page(shown.page, .conflict)
      case .discarded:
        shown.outcome = .refused(failure(of: job))
        return .page(shown.page, .init(code: 422))
      default: return .redirect(.job(job.id))
      }
    } catch let error as ControlError {
      // What was typed is worth more than a page of its own.
      guard error.problem.status != 404 else { throw error }
      if isStale {
        shown.outcome = .conflict
        return .page(shown.page, .conflict)
      }
      shown.outcome = .refused(error.problem)
      return .page(shown.page, .init(code: error.problem.status))
    }
  }

  private func failure(of job: Job) -> Problem {
    Problem(
      status: 422, code: job.failureCode ?? "failed", title: "Not saved",
      detail: "Job \(job.id) has failed: \(job.reason ?? "it didn't say why")")
  }

  private func name(of object: EditableObject) -> String {
    "\(object.entity) \(object.object.map(String.init) ?? "(new)") of \(object.store)"
  }

  private func link(to object: EditableObject) -> PageLink {
    object.object.map { .object(object.store, object.entity, $0) } ?? .objects(object.store, object.entity)
  }

  /// The table with the newest objects first.
  private func newest(of object: EditableObject) -> PageLink {
    var view = DataTableView()
    let isTaken = object.properties.contains { $0.name == "objectID" }
    view.sort = [SortKey(keyPath: isTaken ? "SELF" : "objectID", ascending: false)]
    return .objects(object.store, object.entity, view.query)
  }

  // MARK: Deleting

  private func deletePage(_ visit: Visit, version: String? = nil) async throws -> DataDeletePage {
    let object = try await editPage(visit, number: visit.number("number")).object
    let edit = ObjectEdit(
      store: object.store, object: object.object, version: version ?? object.version, isDeletion: true)
    let isPossible = object.refusal == nil && !check.settings.isReadOnly
    return DataDeletePage(
      object: object,
      check: isPossible ? try await backend.check(edit, of: object.entity, by: visit.peer) : EditCheck(),
      isReadOnly: check.settings.isReadOnly)
  }

  private func delete(_ visit: Visit) async throws -> PageAnswer {
    let form = try await visit.form()
    try form.refuseNames(otherThan: ["version"])
    var shown = try await deletePage(visit, version: form["version"])
    if shown.check.isStale { return try await conflict(visit) }
    guard shown.check.faults.isEmpty else { return .page(shown.page, .init(code: 422)) }
    log("delete \(name(of: shown.object))", visit)
    let edit = ObjectEdit(
      store: shown.object.store, object: shown.object.object, version: form["version"], isDeletion: true)
    let job = try await ended(edit.submission(entity: shown.object.entity), by: visit.peer)
    switch job.state {
    case .completed: return .redirect(.objects(shown.object.store, shown.object.entity))
    // It has changed between the check and the job.
    case .discarded where job.failureCode == "edit_conflict": return try await conflict(visit)
    case .discarded:
      shown.mistake = failure(of: job)
      return .page(shown.page, .init(code: 422))
    default: return .redirect(.job(job.id))
    }
  }

  /// The object as it is now, and the question again: it isn't what was to be deleted.
  private func conflict(_ visit: Visit) async throws -> PageAnswer {
    var shown = try await deletePage(visit)
    shown.isConflict = true
    return .page(shown.page, .conflict)
  }

  // MARK: The job

  /// Makes a job, and waits a little for its end.
  /// - Returns: the job at its end, or as it was when it was made.
  private func ended(_ submission: JobSubmission, by peer: Peer) async throws -> Job {
    // Before the job is made: it may end at once.
    let events = backend.jobEvents()
    let made = try await backend.submit(submission, by: peer)
    if made.state.isEnded { return made }
    return try await withThrowingTaskGroup(of: Job?.self) { group in
      group.addTask {
        for await job in events where job.id == made.id && (job.state.isEnded || job.state == .retryable) { return job }
        return nil
      }
      group.addTask {
        try await Task.sleep(for: DataEditPage.patience)
        return nil
      }
      defer { group.cancelAll() }
      return try await group.next().flatMap { $0 } ?? made
    }
  }
}

extension DataEditPage {
  /// How long a page waits for its job; after that, the job's own page is shown.
  fileprivate static var patience: Duration { .seconds(10) }
}

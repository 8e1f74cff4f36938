import ControlAPI
import ControlServer
import Hummingbird

extension PageRoutes {
  /// The mapping editor: what columns of an uploaded file become, and the recipe that says it.
  func addMappingPages(to router: Router<ControlContext>) {
    page(router, "/upload/{id}/map") { visit in
      .page(try await mappingPage(visit, try MappingForm(visit.query())).page)
    }
    page(router, "/upload/{id}/recipe.yaml") { visit in
      let form = try MappingForm(visit.query())
      let shown = try await mappingPage(visit, form, isTried: false)
      guard let text = shown.text else { throw QueryError.missing(name: "into") }
      return .yaml(text)
    }
    change(router, "/upload/{id}/map") { try await saveMapping($0) }
  }

  /// - Parameter isTried: whether the file is tried by what the form says.
  private func mappingPage(_ visit: Visit, _ form: MappingForm, isTried: Bool = true) async throws -> MappingPage {
    let upload = try await upload(visit.number("id"), of: visit.peer)
    guard upload.isWhole else {
      throw ControlError.conflict(
        reason: "The rest of \(upload.name) hasn't arrived.", hint: "Choose the same file again to go on.")
    }
    var form = form
    if !form.isSent, let recipe = form.recipe { form.fill(from: try await backend.recipe(recipe)) }
    var shown = MappingPage(
      upload: upload, stores: try await backend.stores(StoreCountQuery(counts: false)), form: form,
      mayBeSaved: backend.savesRecipes && !check.settings.isReadOnly)
    guard let target = form.target else { return shown }
    do {
      let columns = try await backend.columns(
        ModelDiffRequest(
          source: upload.source, store: target.store, entity: target.entity, options: form.readingOptions),
        by: visit.peer)
      if !form.isSent { shown.form.fill(from: columns) }
      shown.columns = columns
      shown.text = try shown.form.draft(for: columns).yaml(named: shown.form.name.isEmpty ? "new" : shown.form.name)
      guard isTried, columns.failure == nil else { return shown }
      let draft = shown.form.draft(for: columns)
      shown.trial = try await backend.test(
        RecipeTest(
          source: upload.source, store: draft.store, entity: draft.entity, mode: draft.mode, options: draft.options,
          records: MappingPage.triedRecords, rows: MappingPage.shownRows), by: visit.peer)
    } catch let error as ControlError {
      shown.mistake = error.problem
    }
    return shown
  }

  private func saveMapping(_ visit: Visit) async throws -> PageAnswer {
    let form = try MappingForm(await visit.form())
    var shown = try await mappingPage(visit, form)
    log("save recipe \(form.name)", visit)
    do {
      guard let columns = shown.columns else { throw QueryError.missing(name: "into") }
      guard !form.name.isEmpty else {
        throw ControlError.invalid(field: "name", reason: "a recipe needs one to be saved")
      }
      // What was saved under the name is replaced only by a mapping that began with it.
      if form.name != form.recipe, backend.recipes().contains(where: { $0.name == form.name }) {
        throw ControlError.conflict(
          reason: "There is a recipe \(form.name).",
          hint: "Choose another name, or begin with that recipe to change it.")
      }
      _ = try await backend.save(form.draft(for: columns), as: form.name, by: visit.peer)
      return .redirect(.tryUpload(shown.upload.id, by: form.name))
    } catch let error as ControlError {
      // What was typed is worth more than a page of its own.
      shown.mistake = error.problem
      return .page(shown.page, .init(code: error.problem.status))
    }
  }
}

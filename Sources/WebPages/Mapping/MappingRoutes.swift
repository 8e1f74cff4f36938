import ControlAPI
import ControlServer
import Hummingbird

extension PageRoutes {
  /// The mapping editor: what columns of an uploaded file become, and the recipe that says it.
  func addMappingPages(to router: Router<ControlContext>) {
    // It tries the file, which takes a store's turn to write.
    page(router, "/upload/{id}/map", isLinked: false) { visit in
      .page(try await mappingPage(visit, try MappingForm(visit.query())).page)
    }
    page(router, "/upload/{id}/recipe.yaml", isLinked: false) { visit in
      let form = try MappingForm(visit.query())
      let shown = try await mappingPage(visit, form, isTried: false)
      guard let text = shown.text else { throw QueryError.missing(name: "into") }
      return .yaml(text)
    }
    change(router, "/upload/{id}/map") { try await saveMapping($0) }
    change(router, "/upload/{id}/map/import") { try await importMapped($0) }
  }

  /// - Parameter isTried: whether the file is tried by what the form says.
  private func mappingPage(_ visit: Visit, _ form: MappingForm, isTried: Bool = true) async throws -> MappingPage {
    let upload = try await upload(visit.number("id"), of: visit.peer)
    guard upload.isWhole else {
      throw ControlError.conflict(
        reason: "The rest of \(upload.name) hasn't arrived.", hint: "Choose the same file again to go on.")
    }
    var form = form
    var formerRecipe: Problem?
    if let recipe = form.recipe {
      do {
        form.fill(from: try await backend.recipe(recipe))
      } catch let error as ControlError where form.isSent {
        formerRecipe = error.problem
      }
    }
    let stores = try await backend.stores(StoreCountQuery(counts: false))
    var shown = MappingPage(upload: upload, stores: stores, form: form, uses: uses(of: visit))
    shown.formerRecipe = formerRecipe
    guard let target = form.target else { return shown }
    do {
      var columns = try await backend.columns(
        ModelDiffRequest(
          source: upload.source, store: target.store, entity: target.entity, options: form.readingOptions),
        by: visit.peer)
      // Of a file that can't be read so, the form still has what was typed.
      if columns.properties.isEmpty, let known = FileColumns(of: target, in: stores) {
        columns.properties = known.properties
      }
      if !form.isSent { shown.form.fill(from: columns) }
      shown.columns = columns
      guard isTried, columns.failure == nil else { return try written(shown) }
      let draft = shown.form.draft(for: columns)
      shown.trial = try await backend.test(
        RecipeTest(
          source: upload.source, store: draft.store, entity: draft.entity, mode: draft.mode, options: draft.options,
          records: MappingPage.triedRecords, rows: MappingPage.shownRows), by: visit.peer)
    } catch let error as ControlError {
      shown.note(error)
      if shown.columns == nil { shown.columns = FileColumns(of: target, in: stores) }
    }
    return try written(shown)
  }

  /// With the recipe as a text.
  private func written(_ page: MappingPage) throws -> MappingPage {
    var page = page
    guard let columns = page.columns else { return page }
    page.text = try page.form.draft(for: columns).yaml(named: page.form.name.isEmpty ? "new" : page.form.name)
    return page
  }

  private func uses(of visit: Visit) -> MappingUses {
    if check.settings.isReadOnly { return MappingUses(obstacle: .readOnly) }
    if !backend.savesRecipes { return MappingUses(obstacle: .notConfigured) }
    return MappingUses(obstacle: backend.isOperator(visit.peer) ? nil : .notOperator)
  }

  /// Makes the job that imports the file by what the form says, without a recipe.
  private func importMapped(_ visit: Visit) async throws -> PageAnswer {
    let form = try MappingForm(await visit.form())
    var shown = try await mappingPage(visit, form, isTried: false)
    log("import upload \(shown.upload.id), \(shown.upload.name), by a mapping", visit)
    do {
      guard let columns = shown.columns else { throw QueryError.missing(name: "into") }
      let draft = shown.form.draft(for: columns)
      let submission = JobSubmission(
        source: shown.upload.source, store: draft.store, entity: draft.entity, mode: draft.mode,
        options: draft.options)
      let job = try await claims.holding(shown.upload.id, of: visit.peer) {
        try await backend.submit(submission, by: visit.peer)
      }
      return .redirect(.job(job.id))
    } catch let error as ControlError {
      shown.note(error)
      return .page(shown.page, .init(code: error.problem.status))
    }
  }

  private func saveMapping(_ visit: Visit) async throws -> PageAnswer {
    let form = try MappingForm(await visit.form())
    var shown = try await visit.context.untilGone { try await mappingPage(visit, form) }
    // What can't be read can't be saved either.
    if let mistake = shown.mistake, shown.faultyField != nil {
      return .page(shown.page, .init(code: mistake.status))
    }
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
      _ = try await backend.save(shown.form.draft(for: columns), as: form.name, by: visit.peer)
      return .redirect(.tryUpload(shown.upload.id, by: form.name))
    } catch let error as ControlError {
      // What was typed is worth more than a page of its own.
      shown.note(error)
      return .page(shown.page, .init(code: error.problem.status))
    }
  }
}

extension MappingPage {
  /// Shows what is wrong, beside the field that is at fault.
  fileprivate mutating func note(_ error: ControlError) {
    mistake = error.problem
    if case .invalid(let field, _, _) = error { faultyField = MappingForm.field(atFault: field) }
  }
}

extension FileColumns {
  /// What the model says of an entity, of a file whose columns can't be read; nil where there is no such entity.
  fileprivate init?(of target: (store: String, entity: String), in stores: [Store]) {
    guard let store = stores.first(where: { $0.name == target.store }),
      let entity = store.entities.first(where: { $0.name == target.entity })
    else { return nil }
    self.init(
      store: store.name, entity: entity.name,
      properties: entity.attributes.map { Property(name: $0.name, type: $0.type) }
        + entity.relationships.map { Property(name: $0.name, entity: $0.entity, isToMany: $0.isToMany) })
  }
}

import ControlAPI
import ControlServer
import Foundation
import Importing
import Jobs
import ManagedObjects

/// Why a request can't become a job. `field` is a key of the ticket or request.
struct SubmissionProblem: Error, Equatable {
  let field: String
  let reason: String
  var advice = ""
}

/// Turns a request into a submission to the queue. What the request doesn't say comes from the recipe.
struct SubmissionPlan: Sendable {
  var configuration: DaemonConfiguration
  let stores: DataStores
  /// What does each kind of job.
  var operations = OperationCatalogue()
  /// What jobs there are beside imports.
  var otherKinds: [String] { operations.kinds.filter { $0 != ImportOperation.kind } }
  /// Why a file is imported.
  enum Occasion {
    case delivery, replay, retryOfRejects
  }

  /// A job's options are kept with it, and in memory for each job that is listed.
  static let longestOptions = 128 << 10

  /// - Parameters:
  ///   - source: the name of an import's file, or of a set.
  ///   - files: the names of the set's files; nil for one file.
  ///   - occasion: why it is imported.
  /// - Throws: ``SubmissionProblem``.
  func submission(
    _ request: JobSubmission, source: String?, files: [String]? = nil, for occasion: Occasion = .delivery,
    by who: String
  ) throws -> JobSubmission {
    if let priority = request.priority { try Self.checkPriority(priority) }
    if request.uniqueKey == nil, request.uniquePeriod != nil || request.uniqueStates != nil {
      throw SubmissionProblem(
        field: request.uniquePeriod == nil ? "unique_states" : "unique_period",
        reason: "there is no unique_key that it goes with")
    }
    if let key = request.uniqueKey, occasion != .retryOfRejects, JobSubmission.isReserved(uniqueKey: key) {
      throw SubmissionProblem(
        field: "unique_key", reason: "“\(key)” begins as the daemon's own keys do", advice: "Choose another one.")
    }
    guard request.kind == ImportOperation.kind else { return try otherSubmission(request, by: who) }
    let recipe = try recipe(request.recipe)
    let store = try store(request.store ?? recipe?.store)
    let named = request.entity ?? recipe?.entity
    let entity = try entity(named ?? (files == nil ? nil : ImportRequest.feed), in: store)
    let lane = try lane(request.lane ?? recipe?.lane ?? LaneConfiguration.defaultName)
    var options = recipe?.options ?? ImportOptions()
    if let mode = request.mode {
      options.mode = mode
      options.isModeGiven = true
    }
    // Of a feed it is each entity's own.
    let mode = options.mode
    if let entity { options.mode = options.effectiveMode(for: entity) }
    let isOfRecipe = recipe.map {
      !$0.isSaved && $0.store == store.configuration.name && $0.entity == (entity?.name ?? ImportRequest.feed)
    }
    let masks = RecipeMasks(configuration.maskingRecipes, into: store)
    if isOfRecipe != true { try masks.add(to: &options, entity) }
    let masking = options.mapping
    if options.from != nil, occasion == .delivery { try checkUnchanged(request, recipe, source: source, files) }
    try OptionOverrides(request.options).apply(to: &options)
    switch occasion {
    case .delivery: break
    // It is known, and imported again on purpose.
    case .replay:
      options.skipsKnownFiles = false
      if options.from != nil { throw Self.noReplay(of: request.recipe) }
    // Those of a set are no set, and those of a database are a file.
    case .retryOfRejects: (options.set, options.from) = (nil, nil)
    }
    if options.from != nil { options.reader.format = .sqlite }
    try check(&options, files, source: source, entity, in: store)
    try masks.check(options.mapping, against: masking, entity)
    try masks.addKeys(to: &options.mapping, entity, isOfRecipe: isOfRecipe == true)
    if options.mapping.schema.evolves, !store.configuration.evolves {
      throw SubmissionProblem(
        field: "schema", reason: "it has the model evolve, and store \(store.configuration.name) doesn't let it",
        advice: "Say `evolves: true` in stores.\(store.configuration.name).")
    }
    // The options may say what identifies an object.
    if let entity, mode == nil {
      options.mode = nil
      options.mode = options.effectiveMode(for: entity)
    }
    do throws(MappingError) {
      if let entity {
        try options.check(against: entity)
      } else {
        try options.mapping.check(ofFeed: store.entities.compactMap { store.coordinator.model.entitiesByName[$0] })
      }
    } catch {
      if case .noKey = error { throw SubmissionProblem(field: "mode", reason: "\(error)") }
      throw SubmissionProblem(field: "options", reason: "\(error)")
    }
    if options.from != nil { try check(from: options, entity) }
    let json = try Self.json(options)
    guard request.options.isEmpty || json.utf8.count <= Self.longestOptions else {
      throw SubmissionProblem(
        field: "options", reason: "they have \(json.utf8.count) bytes, and may have \(Self.longestOptions)",
        advice: "Put them into a recipe.")
    }
    var submission = request
    submission.lane = lane
    submission.priority = request.priority ?? recipe?.priority
    submission.store = store.configuration.name
    submission.entity = entity?.name ?? ImportRequest.feed
    submission.mode = options.mode
    submission.source = source
    // They are one source now, and the options say what they are.
    submission.files = []
    submission.format = options.reader.format?.rawValue
    submission.resolvedOptions = json
    submission.awaitsFile = true
    submission.maxAttempts = request.maxAttempts ?? recipe?.maxAttempts
    submission.submittedBy = who
    if options.from != nil, let recipe {
      submission.source = nil
      submission.awaitsFile = false
      // A dry run moves no cursor.
      if !options.isDryRun { submission.uniqueKey = IncrementalSource.uniqueKey(of: recipe.name) }
    }
    return submission
  }

  /// The options of a recipe with `from` that a job may change: by others, rows would be left out that the cursor then has passed.
  private static let changeable: Set<String> = ["dry_run", "batch_size", "atomic"]

  /// Refuses what would have a job of an incremental source do something else than its recipe says.
  private func checkUnchanged(
    _ request: JobSubmission, _ recipe: RecipeConfiguration?, source: String?, _ files: [String]?
  ) throws {
    guard source?.isEmpty != false, files == nil else {
      throw SubmissionProblem(
        field: files == nil ? "source" : "files", reason: "recipe \(recipe?.name ?? "") reads a database, and no file",
        advice: "Leave the file out, or import it by another recipe.")
    }
    for (field, given, own) in [
      ("store", request.store, recipe?.store), ("entity", request.entity, recipe?.entity),
      ("mode", request.mode?.rawValue, recipe?.options.mode?.rawValue),
    ] {
      guard let given, given != own else { continue }
      throw SubmissionProblem(
        field: field, reason: "recipe \(recipe?.name ?? "") reads a database, and no job of it may differ in that",
        advice: "Leave it out.")
    }
    if let key = request.options.keys.sorted().first(where: { !Self.changeable.contains($0) }) {
      throw SubmissionProblem(
        field: "options.\(key)",
        reason: "recipe \(recipe?.name ?? "") reads a database from its cursor on, and only the recipe may say it",
        advice: "Jobs may say \(Self.changeable.sorted().joined(separator: ", ")).")
    }
    for (field, isGiven) in [
      ("hold", request.isHeld), ("not_before", request.notBefore != nil), ("after", !request.after.isEmpty),
      ("batch", request.batch != nil),
    ] where isGiven {
      throw SubmissionProblem(
        field: field, reason: "as long as a job that reads a database hasn't ended, there is no other of its recipe",
        advice: "Leave it out, and submit the job when it is to run.")
    }
    if request.uniqueKey != nil {
      throw SubmissionProblem(
        field: "unique_key", reason: "jobs of a recipe that reads a database have one of their own",
        advice: "Leave it out: as long as one of them hasn't ended, it is the answer.")
    }
  }

  /// Refuses a recipe whose rows, read again, would be inserted again, or whose other objects would be deleted.
  private func check(from options: ImportOptions, _ entity: EntityDescription?) throws {
    guard entity != nil else {
      throw SubmissionProblem(
        field: "entity", reason: "a database's rows go into one entity, and it is \"*\"", advice: "Name the entity.")
    }
    guard let mode = options.mode, mode != .upsert, mode != .update else { return }
    throw SubmissionProblem(
      field: "mode",
      reason: "it is \(mode.rawValue), and rows around the cursor are read again"
        + (mode == .insert ? "" : ", while most rows aren't"),
      advice: "Use upsert, with a `key` if the entity has no uniqueness constraint.")
  }

  private static func noReplay(of recipe: String?) -> SubmissionProblem {
    SubmissionProblem(
      field: "recipe", reason: "\(recipe ?? "") reads a database, and no files of it are kept",
      advice: "'ladectl recipe cursor \(recipe ?? "") --set VALUE' has it read its rows again from there on.")
  }

  /// Whether a set is given where the options speak of one, and nowhere else.
  private func check(
    _ options: inout ImportOptions, _ files: [String]?, source: String?, _ entity: EntityDescription?,
    in store: DataStores.Store
  ) throws {
    if files != nil, options.set == nil { options.set = FileSet() }
    guard let set = options.set else { return }
    if let entity {
      throw SubmissionProblem(
        field: "entity", reason: "it is \(entity.name), and each file of a set has an entity of its own",
        advice: "Write \"*\", and give entities in the set's `of` where names don't say them.")
    }
    do throws(SetFault) {
      try set.check(against: store.entities.compactMap { store.coordinator.model.entitiesByName[$0] })
    } catch {
      throw SubmissionProblem(field: "set", reason: error.reason)
    }
    guard let files else {
      // A configuration is checked without a file.
      if source?.isEmpty != false { return }
      throw SubmissionProblem(
        field: "source", reason: "the options speak of a set of files, and this is one file",
        advice: "Give all of the set's files as files, with ladectl by import --set.")
    }
    do throws(FileSetProblem) {
      _ = try set.parts(of: files)
    } catch {
      throw SubmissionProblem(field: "files", reason: "\(error)")
    }
  }

  /// - Throws: ``SubmissionProblem`` for a priority out of range.
  static func checkPriority(_ priority: Int) throws {
    let range = JobSubmission.priorityRange
    guard !range.contains(priority) else { return }
    throw SubmissionProblem(
      field: "priority", reason: "it is \(priority), and can be from \(range.lowerBound) to \(range.upperBound)")
  }

  /// What the configuration says and can't be, and the key that says it.
  struct Misfit: Sendable {
    /// The recipe or schedule: `recipes.people`.
    let part: String
    let key: String
    let description: String

    /// - Parameter section: the keys under `part` that lead to the field.
    init(_ what: String, part: String, section: String = "", field: String, _ problem: SubmissionProblem) {
      self.part = part
      key = "\(part)\(section).\(problem.field)"
      let field = field.isEmpty ? "" : "\(field): "
      description = "\(what): \(field)\(problem.reason)" + (problem.advice.isEmpty ? "" : ". \(problem.advice)")
    }
  }

  /// Refuses recipes that no file could be imported by.
  /// - Throws: ``DaemonError/configuration(_:)`` with every one of them.
  func checkRecipes() throws {
    let problems = try recipeMisfits()
    guard problems.isEmpty else {
      throw DaemonError.configuration(problems.map(\.description).joined(separator: "\n"))
    }
  }

  /// Recipes that no file could be imported by.
  func recipeMisfits() throws -> [Misfit] {
    try configuration.recipes.compactMap { recipe in
      do {
        _ = try submission(JobSubmission(recipe: recipe.name), source: "", by: "")
        try checkCredentials(of: recipe)
        return nil
      } catch let problem as SubmissionProblem {
        let field = problem.field == "options" ? "" : problem.field
        return Misfit("recipe \(recipe.name)", part: "recipes.\(recipe.name)", field: field, problem)
      }
    }
  }

  /// Refuses a recipe whose masks need a credential that isn't there.
  private func checkCredentials(of recipe: RecipeConfiguration) throws {
    guard let credentials = configuration.credentials else { return }
    let store = try store(recipe.store)
    let entities =
      try entity(recipe.entity, in: store).map { [$0] }
      ?? store.entities.compactMap { store.coordinator.model.entitiesByName[$0] }
    let names = entities.reduce(into: Set<String>()) { $0.formUnion(recipe.options.mapping.maskCredentials(into: $1)) }
    for name in names.sorted() {
      do throws(MaskingError) {
        try credentials.check(name)
      } catch {
        throw SubmissionProblem(field: "properties", reason: "mask: \(error)")
      }
    }
  }

  func lane(_ name: String) throws -> String {
    guard configuration.lane(named: name) == nil else { return name }
    throw SubmissionProblem(
      field: "lane", reason: "there is no lane \(name)",
      advice: ControlError.inventory(configuration.lanes.map(\.name), insteadOf: name))
  }

  private func recipe(_ name: String?) throws -> RecipeConfiguration? {
    guard let name else { return nil }
    if let fault = configuration.fault(ofRecipe: name) {
      throw SubmissionProblem(
        field: "recipe", reason: "the saved recipe \(name) isn't used: \(fault.reason)",
        advice: RecipeFault.remedy(name))
    }
    guard let recipe = configuration.recipe(named: name) else {
      throw SubmissionProblem(
        field: "recipe", reason: "there is no recipe \(name)",
        advice: ControlError.inventory(configuration.recipes.map(\.name), insteadOf: name))
    }
    return recipe
  }

  func store(_ name: String?) throws -> DataStores.Store {
    guard let name else {
      if let only = stores.only { return only }
      throw SubmissionProblem(
        field: "store", reason: "it isn't said into which store", advice: ControlError.inventory(stores.names))
    }
    guard let store = stores[name] else {
      throw SubmissionProblem(
        field: "store", reason: "there is no store \(name)",
        advice: ControlError.inventory(stores.names, insteadOf: name))
    }
    return store
  }

  /// The entity; nil for a feed, where each file has its own.
  private func entity(_ name: String?, in store: DataStores.Store) throws -> EntityDescription? {
    if name == ImportRequest.feed { return nil }
    guard let name else {
      throw SubmissionProblem(
        field: "entity", reason: "it isn't said into which entity",
        advice: ControlError.inventory(store.entities))
    }
    guard store.entities.contains(name), let entity = store.coordinator.model.entitiesByName[name] else {
      throw SubmissionProblem(
        field: "entity", reason: "store \(store.configuration.name) has no entity \(name)",
        advice: ControlError.inventory(store.entities, insteadOf: name))
    }
    guard !entity.isAbstract else {
      throw SubmissionProblem(
        field: "entity", reason: "\(name) is abstract", advice: "Name an entity that inherits from it.")
    }
    return entity
  }

  private static func json(_ options: ImportOptions) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return String(decoding: try encoder.encode(options), as: UTF8.self)
  }
}

extension SubmissionPlan {
  /// A job that isn't an import. Its operation checks its options.
  func otherSubmission(_ request: JobSubmission, by who: String) throws -> JobSubmission {
    guard otherKinds.contains(request.kind) else {
      let known = [ImportOperation.kind] + otherKinds
      throw SubmissionProblem(
        field: "kind", reason: "there is no kind of job \(request.kind)",
        advice: ControlError.inventory(known, insteadOf: request.kind))
    }
    if request.recipe != nil {
      throw SubmissionProblem(field: "recipe", reason: "recipes are for imports, and this is \(request.kind)")
    }
    let store = try store(request.store)
    if let entity = request.entity, !store.entities.contains(entity) {
      throw SubmissionProblem(
        field: "entity", reason: "store \(store.configuration.name) has no entity \(entity)",
        advice: ControlError.inventory(store.entities, insteadOf: entity))
    }
    var submission = request
    submission.lane = try lane(request.lane ?? LaneConfiguration.maintenanceName)
    submission.store = store.configuration.name
    submission.source = nil
    submission.submittedBy = who
    let json = try request.encodedOptions()
    guard json.utf8.count <= Self.longestOptions else {
      throw SubmissionProblem(
        field: "options", reason: "they have \(json.utf8.count) bytes, and may have \(Self.longestOptions)")
    }
    submission.resolvedOptions = json
    do {
      try operations.check(submission, in: store.coordinator.model)
    } catch let failure as JobFailure {
      let reason = failure.message
      throw SubmissionProblem(
        field: "options",
        reason: reason.hasPrefix(JobOptionsError.opening)
          ? String(reason.dropFirst(JobOptionsError.opening.count)) : reason)
    }
    try checkMasks(ofEdit: submission, in: store)
    return submission
  }
}

extension SubmissionPlan {
  /// The schedules of the configuration, as the queue has them.
  /// - Throws: ``DaemonError/configuration(_:)`` with everything that is wrong with the job of any.
  func schedules() throws -> [JobSchedule] {
    let (schedules, misfits) = try fittingSchedules()
    guard misfits.isEmpty else {
      throw DaemonError.configuration(misfits.map(\.description).joined(separator: "\n"))
    }
    return schedules
  }

  /// The schedules whose jobs can be made, and the problems of the others.
  func fittingSchedules() throws -> (schedules: [JobSchedule], misfits: [Misfit]) {
    var misfits: [Misfit] = []
    var schedules: [JobSchedule] = []
    for schedule in configuration.schedules {
      // It doesn't run until its recipe is right.
      if let recipe = schedule.work.recipe, configuration.fault(ofRecipe: recipe) != nil { continue }
      do {
        schedules.append(try self.schedule(schedule))
      } catch let problem as SubmissionProblem {
        misfits.append(
          Misfit(
            "schedule \(schedule.name)", part: "schedules.\(schedule.name)", section: ".job", field: problem.field,
            problem))
      }
    }
    return (schedules, misfits)
  }

  private func schedule(_ schedule: ScheduleConfiguration) throws -> JobSchedule {
    let work = schedule.work
    let name = work.source.map { URL(fileURLWithPath: $0).lastPathComponent }
    let job = try submission(work, source: name ?? "", by: "schedule \(schedule.name)")
    var result = JobSchedule(name: schedule.name, calendar: schedule.calendar, submission: job)
    result.catchUp = schedule.catchUp
    result.jitter = schedule.randomizedDelay / .seconds(1)
    result.isEnabled = schedule.isEnabled
    return result
  }
}

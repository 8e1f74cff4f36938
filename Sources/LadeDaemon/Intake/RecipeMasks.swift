import ControlServer
import Importing
import Jobs
import ManagedObjects
import Spool

/// The masks that the configuration's recipes have for what a store holds. They are masks of the attributes: whatever file
/// comes by whatever way, no submission takes them off.
struct RecipeMasks {
  private let recipes: [RecipeConfiguration]
  private let entities: [EntityDescription]

  init(_ recipes: [RecipeConfiguration], into store: DataStores.Store) {
    self.recipes = recipes.filter {
      $0.store == store.configuration.name && $0.options.mapping.properties.values.contains { $0.mask != nil }
    }
    entities =
      self.recipes.isEmpty ? [] : store.entities.compactMap { store.coordinator.model.entitiesByName[$0] }
  }

  /// Adds the masks of all recipes to the options of a job that follows none of them.
  /// - Parameter entity: nil for a feed.
  /// - Throws: ``SubmissionProblem`` if recipes mask an attribute in different ways.
  func add(to options: inout ImportOptions, _ entity: EntityDescription?) throws {
    guard !recipes.isEmpty else { return }
    if let entity {
      for (name, mask) in try masks(of: entity) {
        options.mapping.properties[name, default: PropertyRule()].mask = mask
      }
      return
    }
    for entity in entities {
      for (name, mask) in try masks(of: entity) {
        var rule = options.mapping.narrowed(to: entity).properties[name] ?? PropertyRule()
        rule.mask = mask
        options.mapping.properties["\(entity.name).\(name)"] = rule
      }
    }
  }

  /// Refuses options of a submission that change a mask, or name a credential.
  /// - Parameter before: what was said before them.
  func check(_ mapping: MappingOptions, against before: MappingOptions, _ entity: EntityDescription?) throws {
    guard mapping.properties != before.properties else { return }
    for (name, rule) in mapping.properties.sorted(by: { $0.key < $1.key })
    where rule.mask?.credential != nil && before.properties[name]?.mask != rule.mask {
      throw SubmissionProblem(
        field: "options.properties.\(name).mask", reason: "only a recipe of the configuration may name a credential",
        advice: "Use redact, keep_last or truncate, or ask the operator.")
    }
    if entity != nil { return try check(mapping.properties, against: before.properties) }
    for entity in entities {
      try check(mapping.narrowed(to: entity).properties, against: before.narrowed(to: entity).properties)
    }
  }

  private func check(_ rules: [String: PropertyRule], against before: [String: PropertyRule]) throws {
    for (name, rule) in before.sorted(by: { $0.key < $1.key }) {
      guard let mask = rule.mask, rules[name]?.mask != mask else { continue }
      throw SubmissionProblem(
        field: "options.properties.\(name)",
        reason: "the configuration masks it by \(mask), and no submission changes that",
        advice: "Leave its mask out.")
    }
  }

  /// Masks the keys of other objects as recipes mask the attributes that they stand for.
  /// - Parameters:
  ///   - entity: nil for a feed.
  ///   - isOfRecipe: whether the options are a recipe's, which has to say it itself.
  /// - Throws: ``SubmissionProblem``.
  func addKeys(to mapping: inout MappingOptions, _ entity: EntityDescription?, isOfRecipe: Bool) throws {
    guard !recipes.isEmpty else { return }
    for importing in entity.map({ [$0] }) ?? entities {
      let own = entity == nil ? mapping.narrowed(to: importing) : mapping
      for (relationship, key) in own.unmaskedKeys(of: importing) {
        let destination = relationship.destinationEntity
        guard let mask = try masks(of: destination).first(where: { $0.0 == key.name })?.1 else { continue }
        let what =
          "\(relationship.name)'s objects are found by \(destination.name).\(key.name), which a recipe masks by \(mask)"
        guard mask.credential != nil else {
          throw SubmissionProblem(
            field: "options.properties.\(relationship.name)", reason: "\(what), so none can be found",
            advice: "Name another key.")
        }
        if isOfRecipe {
          throw SubmissionProblem(
            field: "options.properties.\(relationship.name)", reason: what, advice: "Give it the same mask.")
        }
        var rule = own.properties[relationship.name] ?? PropertyRule()
        rule.mask = mask
        mapping.properties[(entity == nil ? "\(importing.name)." : "") + relationship.name] = rule
      }
    }
  }

  /// The names of the attributes that any recipe masks, of an entity or of one that inherits from it: an object of the latter
  /// is one of the former, too.
  func names(of entity: EntityDescription) -> Set<String> {
    Set(
      recipes.flatMap { recipe in
        let mapping = recipe.options.mapping
        let rules =
          recipe.entity == ImportRequest.feed
          ? mapping.narrowed(to: entity).properties
          : Self.isRelated(entity, recipe.entity) ? mapping.properties : [:]
        return rules.filter { $0.value.mask != nil }.keys
      })
  }

  private static func isRelated(_ entity: EntityDescription, _ name: String) -> Bool {
    func isAbove(_ entity: EntityDescription) -> Bool {
      entity.subentities.contains { $0.name == name || isAbove($0) }
    }
    return entity.isKind(ofEntityNamed: name) || isAbove(entity)
  }

  private func masks(of entity: EntityDescription) throws -> [(String, ValueMask)] {
    var found: [String: (mask: ValueMask, recipe: String)] = [:]
    for recipe in recipes {
      let mapping = recipe.options.mapping
      let rules =
        recipe.entity == ImportRequest.feed
        ? mapping.narrowed(to: entity).properties
        : entity.isKind(ofEntityNamed: recipe.entity) ? mapping.properties : [:]
      for (name, rule) in rules {
        guard let mask = rule.mask else { continue }
        if let other = found[name], other.mask != mask {
          throw SubmissionProblem(
            field: "recipe",
            reason: "recipes \(other.recipe) and \(recipe.name) mask \(entity.name).\(name) differently",
            advice: "Name the recipe by which the file is to be imported.")
        }
        found[name] = (mask, recipe.name)
      }
    }
    return found.map { ($0.key, $0.value.mask) }.sorted { $0.0 < $1.0 }
  }
}

extension EntityDescription {
  fileprivate func isKind(ofEntityNamed name: String) -> Bool {
    self.name == name || superentity?.isKind(ofEntityNamed: name) == true
  }
}

extension SubmissionPlan {
  /// Whether a job's file has values that are masked everywhere else.
  func masks(_ job: Job) -> Bool {
    guard job.kind == ImportOperation.kind else { return false }
    let model = job.store.flatMap { stores[$0]?.coordinator.model }
    let entities =
      job.entity == ImportRequest.feed
      ? model?.entities ?? [] : [job.entity.flatMap { model?.entitiesByName[$0] }].compactMap { $0 }
    if entities.contains(where: { MappingOptions().masks(into: $0) }) { return true }
    // Few options have the word, and only those are read.
    guard job.options.contains("\"mask\"") else { return false }
    guard let options = options(of: job) else { return true }
    return options.mapping.properties.values.contains { $0.mask != nil }
  }

  /// The options of an import; nil if they can't be read.
  func options(of job: Job) -> ImportOptions? {
    do throws(JobOptionsError) {
      return try job.decodeOptions(as: ImportOptions.self)
    } catch {
      return nil
    }
  }

  /// What becomes of the file of a job that has ended; nil if it hasn't.
  func outcome(of job: Job) -> SpoolOutcome? {
    let reason: String?
    switch job.state {
    case .completed: reason = nil
    case .cancelled, .discarded: reason = job.reason ?? "job \(job.id) ended without a reason"
    case .scheduled, .available, .running, .retryable: return nil
    }
    guard masks(job), reason == nil || options(of: job)?.keepsFailed != true else {
      return reason.map { .corrupt(reason: $0) } ?? .done
    }
    return .removed(
      reason: reason.map {
        "\($0). The file was removed, since values of it are masked: take it from its source to import it again."
      })
  }
}

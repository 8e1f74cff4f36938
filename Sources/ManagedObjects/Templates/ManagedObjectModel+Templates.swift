extension ManagedObjectModel {
  /// The model's fetch request of that name, with its variables as they are; nil when there is none.
  ///
  /// Source: `fetchRequestTemplate(forName:)` of Core Data.
  /// - Throws: ``PredicateFormatError``, when its predicate is malformed.
  public func fetchRequestTemplate<T: ManagedObject>(
    forName name: String, of type: T.Type = ManagedObject.self
  ) throws -> FetchRequest<T>? {
    try fetchRequestTemplates[name].map { try $0.request() }
  }

  /// The model's fetch request of that name, with values in place of its predicate's variables.
  ///
  /// ```swift
  /// let request: FetchRequest<Person> = try model.fetchRequestFromTemplate(
  ///   withName: "peopleOf", substitutionVariables: ["city": "Bern", "employer": company.objectID])
  /// ```
  ///
  /// Source: `fetchRequestFromTemplate(withName:substitutionVariables:)` of Core Data. This throws where that
  /// returns nil for an unknown name and raises for a missing variable.
  /// - Parameter substitutionVariables: values by the variables' names without the dollar sign, of the types that
  ///   ``PredicateArgument/init(_:)`` takes.
  /// - Throws: ``FetchTemplateError``, ``PredicateFormatError`` or ``FetchPredicateError``.
  public func fetchRequestFromTemplate<T: ManagedObject>(
    withName name: String, substitutionVariables: [String: Any?], of type: T.Type = ManagedObject.self
  ) throws -> FetchRequest<T> {
    guard let template = fetchRequestTemplates[name] else {
      throw FetchTemplateError.unknownTemplate(name: name, known: fetchRequestTemplates.keys.sorted())
    }
    var request: FetchRequest<T> = try template.request()
    request.predicate = try request.predicate?.withSubstitutionVariables(substitutionVariables)
    let missing = request.predicate?.variables ?? []
    guard missing.isEmpty else {
      throw FetchTemplateError.missingVariables(template: name, names: missing.sorted())
    }
    return request
  }
}

extension FetchRequestTemplateDefinition {
  /// The request, with the predicate's variables as they are.
  func request<T: ManagedObject>() throws -> FetchRequest<T> {
    var request = FetchRequest<T>(
      entityName: entityName, predicate: try predicateFormat.map { try FetchPredicate(format: $0) },
      fetchLimit: fetchLimit, includesSubentities: includesSubentities)
    request.fetchBatchSize = fetchBatchSize
    request.returnsDistinctResults = returnsDistinctResults
    return request
  }
}

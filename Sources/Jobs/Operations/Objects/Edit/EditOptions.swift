package import ManagedObjects

/// What a submission of kind `edit` may say beside store and entity.
package struct EditOptions: OperationOptions, Equatable {
  /// The number of the object; nil for a new one.
  package var object: Int64?
  /// The version in which the object was seen, by ``RowVersion``. If it has another one, nothing is changed. Nil: whatever it
  /// is.
  package var version: String?
  /// The new values, by the names of attributes, as an `update` takes them. A to-one relationship takes the value of the
  /// other object's uniqueness constraint of one attribute, or its number without one; under `country.objectID`, always its
  /// number.
  package var values: [String: UpdateOptions.Given] = [:]
  /// Attributes and to-one relationships that are to have no value.
  package var cleared: ListOption = []
  /// Whether the object is deleted.
  package var isDeletion = false

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case object, version, values = "set", cleared = "clear", isDeletion = "delete"
  }

  package init() {}

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init()
    object = try values.number(.object, 1...Int.max).map(Int64.init)
    version = try values.decodeIfPresent(String.self, forKey: .version)
    self.values = try values.decodeIfPresent([String: UpdateOptions.Given].self, forKey: .values) ?? self.values
    cleared = try values.decodeIfPresent(ListOption.self, forKey: .cleared) ?? cleared
    isDeletion = try values.flag(.isDeletion) ?? isDeletion
  }
}

/// Why one object can't be changed as it was asked for.
package enum EditError: JobFailing, Equatable {
  /// There is no such object (any more).
  case gone(entity: String, number: Int64)
  /// It has changed since it was seen.
  case changed(entity: String, number: Int64, version: String)
  /// What a relationship is to lead to isn't there.
  case noDestination(property: String, reason: String)
  /// The model refuses what would become of it.
  case invalid([ValidationFailure])

  package var jobFailure: JobFailure {
    switch self {
    case .gone(let entity, let number):
      JobFailure(
        code: "no_such_object", message: "there is no \(entity) \(number); it may have been deleted",
        isRetryable: false)
    case .changed(let entity, let number, let version):
      JobFailure(
        code: "edit_conflict",
        message: "\(entity) \(number) has changed since it was seen, so it stays as it is: look at it again, and say "
          + "version \(version) to change it nevertheless",
        isRetryable: false)
    case .noDestination(let property, let reason):
      JobFailure(code: "no_such_object", message: "\(property): \(reason)", isRetryable: false)
    case .invalid(let failures):
      JobFailure(
        code: "validation",
        message: failures.prefix(3).map(\.description).joined(separator: "; ")
          + (failures.count > 3 ? "; and \(failures.count - 3) more" : "") + ". Nothing was changed",
        isRetryable: false)
    }
  }
}

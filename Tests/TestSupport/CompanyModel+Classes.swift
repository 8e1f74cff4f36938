package import Foundation
package import ManagedObjects

// The classes of the test model's objects, written by hand: each slot's number is its name's place in `propertyNames`.

package class Person: ManagedObject {
  override package class var propertyNames: [String]? {
    ["name", "email", "age", "employer", "desk", "projects", "friends", "birthplace", "visited"]
  }
  package var name: String? {
    get { self[0] }
    set { self[0] = newValue }
  }
  package var email: String? {
    get { self[1] }
    set { self[1] = newValue }
  }
  package var age: Int32? {
    get { self[2] }
    set { self[2] = newValue }
  }
  package var employer: Company? {
    get { object(3) }
    set { setObject(newValue, 3) }
  }
  package var desk: Desk? {
    get { object(4) }
    set { setObject(newValue, 4) }
  }
  package var projects: Set<Project> {
    get { objects(5) }
    set { setObjects(newValue, 5) }
  }
  package var friends: Set<Person> {
    get { objects(6) }
    set { setObjects(newValue, 6) }
  }
  package var birthplace: City? {
    get { object(7) }
    set { setObject(newValue, 7) }
  }
  package var visited: Set<City> {
    get { objects(8) }
    set { setObjects(newValue, 8) }
  }
}

package final class Manager: Person {
  override package class var propertyNames: [String]? { (super.propertyNames ?? []) + ["budget"] }
  package var budget: Decimal? {
    get { self[9] }
    set { self[9] = newValue }
  }
}

package final class Company: ManagedObject {
  override package class var propertyNames: [String]? {
    ["name", "country", "registration", "employees", "departments", "contracts", "notes"]
  }
  package var name: String? {
    get { self[0] }
    set { self[0] = newValue }
  }
  package var country: String? {
    get { self[1] }
    set { self[1] = newValue }
  }
  package var registration: Int? {
    get { self[2] }
    set { self[2] = newValue }
  }
  package var employees: Set<Person> {
    get { objects(3) }
    set { setObjects(newValue, 3) }
  }
  package var departments: Set<Department> {
    get { objects(4) }
    set { setObjects(newValue, 4) }
  }
  package var contracts: Set<Contract> {
    get { objects(5) }
    set { setObjects(newValue, 5) }
  }
  package var notes: Set<Note> {
    get { objects(6) }
    set { setObjects(newValue, 6) }
  }
}

package final class Department: ManagedObject {
  override package class var propertyNames: [String]? { ["name", "company"] }
  package var name: String? {
    get { self[0] }
    set { self[0] = newValue }
  }
  package var company: Company? {
    get { object(1) }
    set { setObject(newValue, 1) }
  }
}

package final class Contract: ManagedObject {
  override package class var propertyNames: [String]? { ["number", "company"] }
  package var number: Int? {
    get { self[0] }
    set { self[0] = newValue }
  }
  package var company: Company? {
    get { object(1) }
    set { setObject(newValue, 1) }
  }
}

package final class Note: ManagedObject {
  override package class var propertyNames: [String]? { ["text", "company"] }
  package var text: String? {
    get { self[0] }
    set { self[0] = newValue }
  }
  package var company: Company? {
    get { object(1) }
    set { setObject(newValue, 1) }
  }
}

package final class Desk: ManagedObject {
  override package class var propertyNames: [String]? { ["label", "occupant"] }
  package var label: String? {
    get { self[0] }
    set { self[0] = newValue }
  }
  package var occupant: Person? {
    get { object(1) }
    set { setObject(newValue, 1) }
  }
}

package final class Project: ManagedObject {
  override package class var propertyNames: [String]? { ["title", "members"] }
  package var title: String? {
    get { self[0] }
    set { self[0] = newValue }
  }
  package var members: Set<Person> {
    get { objects(1) }
    set { setObjects(newValue, 1) }
  }
}

package final class City: ManagedObject {
  override package class var propertyNames: [String]? { ["code", "name"] }
  package var code: Int {
    get { self[0] ?? 0 }
    set { self[0] = newValue }
  }
  package var name: String? {
    get { self[1] }
    set { self[1] = newValue }
  }
}

package final class Sample: ManagedObject {
  override package class var propertyNames: [String]? {
    [
      "small", "medium", "large", "amount", "ratio", "part", "text", "flag", "day", "instant", "bytes", "uid", "site",
      "shape", "mood",
    ]
  }
  package var large: Int64? {
    get { self[2] }
    set { self[2] = newValue }
  }
  package var amount: Decimal? {
    get { self[3] }
    set { self[3] = newValue }
  }
  package var ratio: Double? {
    get { self[4] }
    set { self[4] = newValue }
  }
  package var text: String? {
    get { self[6] }
    set { self[6] = newValue }
  }
  package var day: Date? {
    get { self[8] }
    set { self[8] = newValue }
  }
  package var instant: Date? {
    get { self[9] }
    set { self[9] = newValue }
  }
  package var mood: String? {
    get { self[14] }
    set { self[14] = newValue }
  }
}

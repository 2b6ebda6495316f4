from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.field_issue_dto import FieldIssueDto


T = TypeVar("T", bound="ErrorBodyDto")


@_attrs_define
class ErrorBodyDto:
    """
    Attributes:
        category (str): One of `invalid_request`, `authentication`, `permission`, `not_found`, `conflict`,
            `precondition`, `limit`, `capacity`, `upstream`, `internal`.
        code (str): Stable code; branch on this. Example: validation_failed.
        message (str): For people; may change at any time.
        request_id (str): The X-Request-Id of this answer.
        retryable (bool): Whether the same request can succeed later.
        binding_id (str | Unset): With binding_exists: the binding there is.
        details (list[FieldIssueDto] | Unset): Each field that was refused.
        first_sequence (int | Unset): With cursor_expired: the first event that is still kept.
        limit (int | Unset): With quota_exceeded: how much it allows.
        max_bytes (int | Unset): With body_too_large and file_too_large: the limit in bytes.
        operation_id (str | Unset): With conflicts: the operation that is in the way.
        quota (str | Unset): With quota_exceeded: which quota, by its name in the configuration.
        remediation (str | Unset): What to do about it.
        required_scope (str | Unset): With scope_insufficient: the scope that is needed.
        revision (str | Unset): With revision_not_ready: the first revision that is not.
        revisions (list[str] | Unset): With revision_not_ready: all that are not.
    """

    category: str
    code: str
    message: str
    request_id: str
    retryable: bool
    binding_id: str | Unset = UNSET
    details: list[FieldIssueDto] | Unset = UNSET
    first_sequence: int | Unset = UNSET
    limit: int | Unset = UNSET
    max_bytes: int | Unset = UNSET
    operation_id: str | Unset = UNSET
    quota: str | Unset = UNSET
    remediation: str | Unset = UNSET
    required_scope: str | Unset = UNSET
    revision: str | Unset = UNSET
    revisions: list[str] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        category = self.category

        code = self.code

        message = self.message

        request_id = self.request_id

        retryable = self.retryable

        binding_id = self.binding_id

        details: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.details, Unset):
            details = []
            for details_item_data in self.details:
                details_item = details_item_data.to_dict()
                details.append(details_item)

        first_sequence = self.first_sequence

        limit = self.limit

        max_bytes = self.max_bytes

        operation_id = self.operation_id

        quota = self.quota

        remediation = self.remediation

        required_scope = self.required_scope

        revision = self.revision

        revisions: list[str] | Unset = UNSET
        if not isinstance(self.revisions, Unset):
            revisions = self.revisions

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "category": category,
                "code": code,
                "message": message,
                "request_id": request_id,
                "retryable": retryable,
            }
        )
        if binding_id is not UNSET:
            field_dict["binding_id"] = binding_id
        if details is not UNSET:
            field_dict["details"] = details
        if first_sequence is not UNSET:
            field_dict["first_sequence"] = first_sequence
        if limit is not UNSET:
            field_dict["limit"] = limit
        if max_bytes is not UNSET:
            field_dict["max_bytes"] = max_bytes
        if operation_id is not UNSET:
            field_dict["operation_id"] = operation_id
        if quota is not UNSET:
            field_dict["quota"] = quota
        if remediation is not UNSET:
            field_dict["remediation"] = remediation
        if required_scope is not UNSET:
            field_dict["required_scope"] = required_scope
        if revision is not UNSET:
            field_dict["revision"] = revision
        if revisions is not UNSET:
            field_dict["revisions"] = revisions

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.field_issue_dto import FieldIssueDto

        d = dict(src_dict)
        category = d.pop("category")

        code = d.pop("code")

        message = d.pop("message")

        request_id = d.pop("request_id")

        retryable = d.pop("retryable")

        binding_id = d.pop("binding_id", UNSET)

        _details = d.pop("details", UNSET)
        details: list[FieldIssueDto] | Unset = UNSET
        if _details is not UNSET:
            details = []
            for details_item_data in _details:
                details_item = FieldIssueDto.from_dict(details_item_data)

                details.append(details_item)

        first_sequence = d.pop("first_sequence", UNSET)

        limit = d.pop("limit", UNSET)

        max_bytes = d.pop("max_bytes", UNSET)

        operation_id = d.pop("operation_id", UNSET)

        quota = d.pop("quota", UNSET)

        remediation = d.pop("remediation", UNSET)

        required_scope = d.pop("required_scope", UNSET)

        revision = d.pop("revision", UNSET)

        revisions = cast(list[str], d.pop("revisions", UNSET))

        error_body_dto = cls(
            category=category,
            code=code,
            message=message,
            request_id=request_id,
            retryable=retryable,
            binding_id=binding_id,
            details=details,
            first_sequence=first_sequence,
            limit=limit,
            max_bytes=max_bytes,
            operation_id=operation_id,
            quota=quota,
            remediation=remediation,
            required_scope=required_scope,
            revision=revision,
            revisions=revisions,
        )

        error_body_dto.additional_properties = d
        return error_body_dto

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties

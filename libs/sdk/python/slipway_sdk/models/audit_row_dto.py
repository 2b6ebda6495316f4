from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="AuditRowDto")


@_attrs_define
class AuditRowDto:
    """
    Attributes:
        action (str):  Example: rollout.create.
        actor (str): Type and id. Example: token:tok_boot.
        after_digest (None | str): SHA-256 of the resource after, as canonical JSON.
        at (datetime.datetime): When the change was made, to the microsecond.
        before_digest (None | str): SHA-256 of the resource before, as canonical JSON.
        hash_ (None | str): SHA-256 over `previous_hash` and the canonical JSON (RFC 8785) of this row without its two
            hashes.
        id (str):
        previous_hash (None | str): Hash of the row before; 64 zeros for the first one.
        request_id (None | str): `X-Request-Id` of the request; null where no request made the change.
        resource_name (str):  Example: chat.
        resource_type (str):  Example: deployment.
        sequence (int | None): Position in the chain of the tenant, gapless from 1; null for about a second.
        tenant_id (str):
        reads (int | Unset): How many reads the row tells of: its own and those alike since the row before. Absent for a
            mutation.
    """

    action: str
    actor: str
    after_digest: None | str
    at: datetime.datetime
    before_digest: None | str
    hash_: None | str
    id: str
    previous_hash: None | str
    request_id: None | str
    resource_name: str
    resource_type: str
    sequence: int | None
    tenant_id: str
    reads: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        action = self.action

        actor = self.actor

        after_digest: None | str
        after_digest = self.after_digest

        at = self.at.isoformat()

        before_digest: None | str
        before_digest = self.before_digest

        hash_: None | str
        hash_ = self.hash_

        id = self.id

        previous_hash: None | str
        previous_hash = self.previous_hash

        request_id: None | str
        request_id = self.request_id

        resource_name = self.resource_name

        resource_type = self.resource_type

        sequence: int | None
        sequence = self.sequence

        tenant_id = self.tenant_id

        reads = self.reads

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "action": action,
                "actor": actor,
                "after_digest": after_digest,
                "at": at,
                "before_digest": before_digest,
                "hash": hash_,
                "id": id,
                "previous_hash": previous_hash,
                "request_id": request_id,
                "resource_name": resource_name,
                "resource_type": resource_type,
                "sequence": sequence,
                "tenant_id": tenant_id,
            }
        )
        if reads is not UNSET:
            field_dict["reads"] = reads

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        action = d.pop("action")

        actor = d.pop("actor")

        def _parse_after_digest(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        after_digest = _parse_after_digest(d.pop("after_digest"))

        at = datetime.datetime.fromisoformat(d.pop("at"))

        def _parse_before_digest(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        before_digest = _parse_before_digest(d.pop("before_digest"))

        def _parse_hash_(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        hash_ = _parse_hash_(d.pop("hash"))

        id = d.pop("id")

        def _parse_previous_hash(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        previous_hash = _parse_previous_hash(d.pop("previous_hash"))

        def _parse_request_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        request_id = _parse_request_id(d.pop("request_id"))

        resource_name = d.pop("resource_name")

        resource_type = d.pop("resource_type")

        def _parse_sequence(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        sequence = _parse_sequence(d.pop("sequence"))

        tenant_id = d.pop("tenant_id")

        reads = d.pop("reads", UNSET)

        audit_row_dto = cls(
            action=action,
            actor=actor,
            after_digest=after_digest,
            at=at,
            before_digest=before_digest,
            hash_=hash_,
            id=id,
            previous_hash=previous_hash,
            request_id=request_id,
            resource_name=resource_name,
            resource_type=resource_type,
            sequence=sequence,
            tenant_id=tenant_id,
            reads=reads,
        )

        audit_row_dto.additional_properties = d
        return audit_row_dto

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

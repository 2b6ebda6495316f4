from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.actor_dto import ActorDto
    from ..models.revision_source_dto import RevisionSourceDto
    from ..models.revision_spec_dto import RevisionSpecDto


T = TypeVar("T", bound="RevisionDto")


@_attrs_define
class RevisionDto:
    """
    Attributes:
        change_ref (None | str):
        created_at (datetime.datetime):
        created_by (ActorDto):
        deployment (str): Name of the deployment
        id (str):
        message (str): Why it is in this state, where there is something to say
        name (str):  Example: chat-00007.
        number (int):
        ready_at (datetime.datetime | None):
        source (RevisionSourceDto):
        spec (RevisionSpecDto):
        spec_digest (str): SHA-256 of the canonical spec
        state (str): One of `pending`, `provisioning`, `ready`, `active`, `standby`, `draining`, `retired`, `failed`.
    """

    change_ref: None | str
    created_at: datetime.datetime
    created_by: ActorDto
    deployment: str
    id: str
    message: str
    name: str
    number: int
    ready_at: datetime.datetime | None
    source: RevisionSourceDto
    spec: RevisionSpecDto
    spec_digest: str
    state: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        change_ref: None | str
        change_ref = self.change_ref

        created_at = self.created_at.isoformat()

        created_by = self.created_by.to_dict()

        deployment = self.deployment

        id = self.id

        message = self.message

        name = self.name

        number = self.number

        ready_at: None | str
        if isinstance(self.ready_at, datetime.datetime):
            ready_at = self.ready_at.isoformat()
        else:
            ready_at = self.ready_at

        source = self.source.to_dict()

        spec = self.spec.to_dict()

        spec_digest = self.spec_digest

        state = self.state

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "change_ref": change_ref,
                "created_at": created_at,
                "created_by": created_by,
                "deployment": deployment,
                "id": id,
                "message": message,
                "name": name,
                "number": number,
                "ready_at": ready_at,
                "source": source,
                "spec": spec,
                "spec_digest": spec_digest,
                "state": state,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.actor_dto import ActorDto
        from ..models.revision_source_dto import RevisionSourceDto
        from ..models.revision_spec_dto import RevisionSpecDto

        d = dict(src_dict)

        def _parse_change_ref(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        change_ref = _parse_change_ref(d.pop("change_ref"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        created_by = ActorDto.from_dict(d.pop("created_by"))

        deployment = d.pop("deployment")

        id = d.pop("id")

        message = d.pop("message")

        name = d.pop("name")

        number = d.pop("number")

        def _parse_ready_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                ready_at_type_0 = datetime.datetime.fromisoformat(data)

                return ready_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        ready_at = _parse_ready_at(d.pop("ready_at"))

        source = RevisionSourceDto.from_dict(d.pop("source"))

        spec = RevisionSpecDto.from_dict(d.pop("spec"))

        spec_digest = d.pop("spec_digest")

        state = d.pop("state")

        revision_dto = cls(
            change_ref=change_ref,
            created_at=created_at,
            created_by=created_by,
            deployment=deployment,
            id=id,
            message=message,
            name=name,
            number=number,
            ready_at=ready_at,
            source=source,
            spec=spec,
            spec_digest=spec_digest,
            state=state,
        )

        revision_dto.additional_properties = d
        return revision_dto

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

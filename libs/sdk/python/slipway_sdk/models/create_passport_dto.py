from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.passport_affinity_request_dto import PassportAffinityRequestDto


T = TypeVar("T", bound="CreatePassportDto")


@_attrs_define
class CreatePassportDto:
    """
    Attributes:
        deployment (str): What requests of the session send as `model`: the name of a deployment, or the slug of a model
            API. Example: chat.
        session_id (str): The key that requests of the session carry. Only a keyed hash of it is stored.
        affinity (PassportAffinityRequestDto | Unset):
        subject (str | Unset): Whose session it is, in words of the caller.
    """

    deployment: str
    session_id: str
    affinity: PassportAffinityRequestDto | Unset = UNSET
    subject: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        deployment = self.deployment

        session_id = self.session_id

        affinity: dict[str, Any] | Unset = UNSET
        if not isinstance(self.affinity, Unset):
            affinity = self.affinity.to_dict()

        subject = self.subject

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "deployment": deployment,
                "session_id": session_id,
            }
        )
        if affinity is not UNSET:
            field_dict["affinity"] = affinity
        if subject is not UNSET:
            field_dict["subject"] = subject

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.passport_affinity_request_dto import PassportAffinityRequestDto

        d = dict(src_dict)
        deployment = d.pop("deployment")

        session_id = d.pop("session_id")

        _affinity = d.pop("affinity", UNSET)
        affinity: PassportAffinityRequestDto | Unset
        if isinstance(_affinity, Unset):
            affinity = UNSET
        else:
            affinity = PassportAffinityRequestDto.from_dict(_affinity)

        subject = d.pop("subject", UNSET)

        create_passport_dto = cls(
            deployment=deployment,
            session_id=session_id,
            affinity=affinity,
            subject=subject,
        )

        create_passport_dto.additional_properties = d
        return create_passport_dto

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
